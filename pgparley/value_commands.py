"""`pgparley catalog values`: the columns whose values a language model may see. Without leave none is read or kept."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, TypeAlias

import msgspec
import typer

from engine.settings import UpstreamSettings
from pgparley.login_commands import Name
from pgparley.store_session import SETTINGS, run_on_store
from pgparley.terminal import AsJson, minute, print_json, print_table, printable
from schema_catalog.naming import dotted
from schema_catalog.pg import Pool
from schema_catalog.store import CatalogError, CatalogStore
from schema_catalog.types import ColumnKey, Database, Snapshot
from schema_catalog.values import AllowedColumn, ColumnValues, ValueStore

if TYPE_CHECKING:
    from engine.linking.value_reader import Unread

    Outcomes: TypeAlias = tuple[ColumnValues | Unread, ...]

Names = list[str] | None


def add_values_command(
    app: typer.Typer, store_dsn: Callable[[], str], upstream: Callable[[], UpstreamSettings]
) -> None:
    """Adds `values` to the catalog's commands."""

    @app.command()
    def values(
        name: Name,
        *,
        allow: Annotated[
            Names, typer.Option(help="Allow schema.table.column (or table.column); repeat for more.")
        ] = None,
        allow_all_text: Annotated[
            bool, typer.Option("--allow-all-text", help="Allow every column of text that there is now.")
        ] = False,
        deny: Annotated[Names, typer.Option(help="Forbid a column again; repeat for more.")] = None,
        deny_all: Annotated[bool, typer.Option("--deny-all", help="Forbid all columns.")] = False,
        list_: Annotated[
            bool, typer.Option("--list", help="List what is allowed (also done without options).")
        ] = False,
        as_json: AsJson = False,
    ) -> None:
        """Say which columns' values may be shown to the language model; none are until you do."""
        changing = bool(allow or allow_all_text or deny or deny_all)

        async def work(pool: Pool) -> None:
            if changing:
                await _change(
                    pool, name, _Change(allow or [], deny or [], allow_all_text, deny_all), upstream()
                )
            if list_ or not changing:
                await _list(pool, name, as_json=as_json)

        run_on_store(store_dsn(), work)


class _Change(msgspec.Struct, frozen=True):
    """The change asked for: columns as written; `all_text`: allow every text column; `none`: deny all."""

    allow: Sequence[str]
    deny: Sequence[str]
    all_text: bool
    none: bool


async def read_anew(pool: Pool, database: Database, settings: UpstreamSettings) -> Outcomes:
    """Reads the allowed columns of `database`; raises `UnreachableError`."""
    # The engine's way to a database loads PostgreSQL's parser, which most commands do without.
    from engine.linking.value_reader import refresh_values  # noqa: PLC0415
    from engine.upstream import Databases  # noqa: PLC0415

    snapshot = await CatalogStore(pool).newest(database.name)
    if snapshot is None:
        return ()
    upstream = Databases(settings)
    try:
        return await refresh_values(ValueStore(pool), database, snapshot, upstream, SETTINGS)
    finally:
        await upstream.aclose()


def report_values(outcomes: Outcomes) -> None:
    """Prints the number of values read, and the columns that could not be read."""
    read = [outcome for outcome in outcomes if isinstance(outcome, ColumnValues)]
    if outcomes:
        total = sum(len(column.values) for column in read)
        typer.echo(f"  values: {total} of {len(read)} columns")
    for outcome in outcomes:
        if not isinstance(outcome, ColumnValues):
            typer.echo(printable(f"  ! no values of {dotted(outcome.key)}: {outcome.problem}"))


async def _change(pool: Pool, name: str, change: _Change, settings: UpstreamSettings) -> None:
    from engine.linking.value_reader import text_columns  # noqa: PLC0415  as above

    database = (await CatalogStore(pool).get(name)).database
    snapshot = await CatalogStore(pool).newest(name)
    if snapshot is None:
        raise CatalogError(f"the schema of {name} was never read; run `pgparley catalog refresh {name}`")
    store = ValueStore(pool)
    allowed = [column.key for column in await store.allowed(name)]
    denied = allowed if change.none else [_find(text, snapshot, allowed) for text in change.deny]
    sensitive = await store.sensitive(name)
    wanted = [_find(text, snapshot) for text in change.allow]
    for column in wanted:
        if not sensitive.isdisjoint((column, column[:2])):
            raise CatalogError(
                f"{dotted(column)} is sensitive: none of its values may be kept; nl_catalog.set_attribute()"
                " takes that back"
            )
    if change.all_text:
        wanted += [each for each in text_columns(snapshot) if sensitive.isdisjoint((each, each[:2]))]
    await store.deny(name, denied)
    await store.allow(name, [column for column in wanted if column not in denied])
    typer.echo(f"{printable(name)}: {len(await store.allowed(name))} columns are allowed")
    if wanted:
        report_values(await read_anew(pool, database, settings))


def _find(text: str, snapshot: Snapshot, allowed: Iterable[ColumnKey] = ()) -> ColumnKey:
    """The column that `text` names, in SQL's notation or bare; raises `CatalogError`. `allowed`: may be gone by now."""
    names: dict[str, set[ColumnKey]] = {}
    for table, column in snapshot.columns():
        key = (*table.key, column.name)
        for written in (dotted(key), ".".join(key), dotted(key[1:]), ".".join(key[1:])):
            names.setdefault(written, set()).add(key)
    for key in allowed:
        names.setdefault(dotted(key), set()).add(key)
    found = names.get(text, set())
    if len(found) > 1:
        options = ", ".join(sorted(map(dotted, found)))
        raise CatalogError(f'"{text}" may be several columns: {options}')
    if not found:
        near = difflib.get_close_matches(text, names, 1)
        raise CatalogError(f'there is no column "{text}"' + (f'; did you mean "{near[0]}"?' if near else ""))
    return next(iter(found))


async def _list(pool: Pool, name: str, *, as_json: bool) -> None:
    await CatalogStore(pool).get(name)
    columns = await ValueStore(pool).allowed(name)
    if as_json:
        print_json([_listed(column) for column in columns])
    elif columns:
        print_table("column", "values", "read", "problem", rows=map(_cells, columns))
    else:
        typer.echo(
            f"No value of {printable(name)} may be shown to the model. "
            "Allow columns with --allow schema.table.column or --allow-all-text."
        )


def _cells(column: AllowedColumn) -> tuple[str, ...]:
    read = minute(column.read_at.isoformat()) if column.read_at else "never"
    count = f"{column.count}{' and more' if column.more else ''}"
    return (dotted(column.key), count, read, column.problem or "")


def _listed(column: AllowedColumn) -> dict[str, object]:
    """A row of `values --json`."""
    read_at = column.read_at.isoformat() if column.read_at else None
    schema, table, name = column.key
    counted = {"values": column.count, "more": column.more, "read_at": read_at, "problem": column.problem}
    return {"schema": schema, "table": table, "column": name, **counted}
