"""What other packages plug in, by entry points: how each is asked for, and what to install where it is not there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol, TypeAlias, cast

from engine.values.model_settings import EmbeddedModelSettings
from pgparley.check.finding import Finding
from schema_catalog.knowledge_files.format import KnowledgeFile, Source
from schema_catalog.pg import Connection

Given: TypeAlias = Callable[[Connection], Awaitable[Source]]
"""A file that was read: what it says may depend on the tables of the database that it is about."""


class NotInstalledError(Exception):
    """Nothing is plugged in. `hint`: what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class Importer(Protocol):
    """Reads and writes the files of a tool: an entry point of `pgparley.importers`, by the tool's name.

    All raise `CatalogError`, those that read a file `OSError` as well.
    """

    def about(self, database: str, file: Path) -> Given:
        """What `file`, or the files in that folder, say of a registered database."""
        ...

    def exported(self, file: Path) -> Source:
        """What people said, in a file that `written` made."""
        ...

    def written(self, content: KnowledgeFile, /) -> str:
        """What people said of one database."""
        ...


class EmbeddedModel(Protocol):
    """A model server that we start ourselves: the entry point of `pgparley.embedded_model`."""

    def fetch(self, directory: Path, name: str = "", file: str = "", sha256: str = "") -> Path:
        """A model's file in `directory`, got where it is not there yet; raises `ModelUnavailableError`.

        `name`: of a model that it knows, or of the repository that has `file`; empty: the demo's.
        """
        ...

    def check(self, path: Path) -> Iterator[Finding]:
        """Whether the model's file can be used."""
        ...

    def serve(self, settings: EmbeddedModelSettings, name: str, key: str, *, reuse_port: bool) -> None:
        """Writes the base URL to standard output, serves until a signal ends it; raises `OSError`.

        `key`: to be shown.
        """
        ...


def embedded_model() -> EmbeddedModel:
    """Raises `NotInstalledError`."""
    for found in entry_points(group="pgparley.embedded_model"):
        return cast("EmbeddedModel", found.load())
    raise NotInstalledError(
        "the embedded model is not installed",
        "Run: pip install 'pgparley[local]'; or set base_url in [model] to a server of yours.",
    )


def importer(tool: str) -> Importer:
    """Raises `NotInstalledError`."""
    found = entry_points(group="pgparley.importers")
    if tool in found.names:
        return cast("Importer", found[tool].load())
    raise NotInstalledError(
        f"nothing that knows files of {tool} is installed", "For dbt and osi run: pip install 'pgparley[dbt]'"
    )
