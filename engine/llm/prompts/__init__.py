"""The prompts: one text file each, a `string.Template`."""

from __future__ import annotations

from importlib import resources
from string import Template


def prompt(name: str, **values: str) -> str:
    """`<name>.txt` with `values` filled in; raises `KeyError` where one is missing, `FileNotFoundError`."""
    return Template(source(name)).substitute(values).strip()


def source(name: str) -> str:
    """The text of `<name>.txt`; raises `FileNotFoundError`."""
    return resources.files(__package__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
