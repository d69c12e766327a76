"""The prompts: one text file each, with $names for what is filled in. A changed file is a changed behaviour."""

from __future__ import annotations

from importlib import resources
from string import Template


def prompt(name: str, **values: str) -> str:
    """The text of `<name>.txt` with `values` filled in; raises `KeyError` where one is missing."""
    return Template(source(name)).substitute(values).strip()


def source(name: str) -> str:
    """`<name>.txt` as it stands."""
    return resources.files(__package__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
