"""What commands write: tables, JSON, failures (exit status 1). No control character of a database is written."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, NoReturn, TypeVar

import msgspec
import typer
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from schema_catalog.dsn import DSNError, as_uri

T = TypeVar("T")

AsJson = Annotated[bool, typer.Option("--json", help="Write JSON.")]


def fail(message: str, *more: str | None) -> NoReturn:
    """Ends the command with exit status 1; what there is to say goes to standard error, a line each."""
    typer.echo("\n".join(["pgparley: " + printable(message), *map(printable, filter(None, more))]), err=True)
    raise typer.Exit(1)


def uri_of(dsn: str) -> str:
    """A connection string that the user wrote, as a URI; one that cannot be understood ends the command."""
    try:
        return as_uri(dsn)
    except DSNError as error:
        fail(f"{error}.")


def print_json(value: object, *, indent: bool = False) -> None:
    """Writes `value` as one line, or with a line for each member."""
    text = msgspec.json.encode(value)
    typer.echo(msgspec.json.format(text, indent=1) if indent else text)


def print_lines(first: str, *rest: str) -> None:
    """Writes `first`, and those of `rest` that are not empty under it."""
    for line in (first, *(f"        {line}" for line in rest if line)):
        typer.echo(printable(line))


def print_table(*headings: str, rows: Iterable[Iterable[str]], caption: str | None = None) -> None:
    """Writes a table, a tuple of texts a row."""
    grid = Table(*headings, caption=caption)
    for row in rows:
        grid.add_row(*map(cell, row))
    Console().print(grid)


def one_by_one(doing: str, items: Sequence[T], console: Console, *, transient: bool = False) -> Iterator[T]:
    """The items, with a bar that shows how many are done. `transient`: the bar goes at the end."""
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=transient) as progress:
        task = progress.add_task(doing, total=len(items))
        for item in items:
            yield item
            progress.advance(task)


def cell(text: str) -> Text:
    """`text` for a table, without markup."""
    return Text(printable(text))


def printable(text: str) -> str:
    """`text` with control characters written out: names, comments and values come from databases."""
    return "".join(repr(c)[1:-1] if unicodedata.category(c) in {"Cc", "Cf", "Cs"} else c for c in text)


def minute(moment: str) -> str:
    """A moment of ISO 8601, shown to the minute."""
    return moment.replace("T", " ")[:16]
