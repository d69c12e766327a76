"""`pgparley router …`: train the router on the catalog's own schemas, see how it stands, go back. Loads torch late."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from engine.routing.artifact import ArtifactError, ArtifactStore, Manifest
from pgparley.config import Config
from pgparley.store_session import run_on_store
from pgparley.terminal import AsJson, fail, minute, print_json, print_table, read_json_lines
from schema_catalog.catalog import CachedCatalog
from schema_catalog.pg import Pool
from schema_catalog.store import CatalogStore
from schema_catalog.types import Snapshot

if TYPE_CHECKING:
    from pgparley.router_training import Workshop

_SHAPE = 'A line is {"question": …, "db": …, "tables": […]}.'

_NAMES = {
    "database_r1": "right database first",
    "database_r5": "right database among five",
    "table_r5": "right tables among five",
    "nll": "cost of the right database",
}


def router_app(configured: Callable[[], tuple[Config, Path | None]]) -> typer.Typer:
    """The commands; `configured` gives the configuration, and its file, when one of them runs."""
    app = typer.Typer(help="Train the router on the registered schemas.", no_args_is_help=True)

    @app.command()
    def train(
        *,
        start: Annotated[
            str, typer.Option("--from", help="The version to start from (default: the one that comes along).")
        ] = "base",
        threads: Annotated[int, typer.Option(min=1, help="Threads to train with.")] = os.cpu_count() or 1,
    ) -> None:
        """Train on the registered schemas; the running engine takes the new version up by itself."""
        settings, _ = configured()
        _train(settings, _snapshots(settings), start, threads)

    @app.command()
    def status(*, as_json: AsJson = False) -> None:
        """Versions, the one in use, and how it knows each registered database."""
        settings, _ = configured()
        _status(_folder(settings), _snapshots(settings), as_json=as_json)

    @app.command("eval")
    def evaluate(
        questions: Annotated[
            Path | None,
            typer.Option(
                help='A JSONL file of {"question", "db", "tables"}; else questions kept out of training.'
            ),
        ] = None,
        version: Annotated[str | None, typer.Option(help="Another version than the one in use.")] = None,
        *,
        as_json: AsJson = False,
    ) -> None:
        """Measure a version on questions it was not trained on."""
        settings, _ = configured()
        _evaluate(settings, _snapshots(settings), questions, version, as_json=as_json)

    _add_switches(app, configured)
    return app


def _add_switches(app: typer.Typer, configured: Callable[[], tuple[Config, Path | None]]) -> None:

    @app.command()
    def use(version: Annotated[str, typer.Argument(help="A version, as `status` lists it.")]) -> None:
        """Put a version to use."""
        try:
            _store(_folder(configured()[0])).use(version)
        except ArtifactError as problem:
            fail(f"{problem}.")
        typer.echo(f"The router in use is {version}.")

    @app.command()
    def rollback() -> None:
        """Go back to the version that the one in use was trained from."""
        try:
            version = _store(_folder(configured()[0])).rollback()
        except ArtifactError as problem:
            fail(f"{problem}.")
        typer.echo(f"The router in use is {version}.")


def _snapshots(config: Config) -> tuple[Snapshot, ...]:
    async def read(pool: Pool) -> tuple[Snapshot, ...]:
        return tuple(snapshot for _, snapshot in await CachedCatalog(CatalogStore(pool)).entries())

    return run_on_store(config.engine.store, read)


def _folder(config: Config) -> Path:
    if config.engine.router is None:
        fail("there is no folder for routers; set [engine] router.")
    return config.engine.router


def _store(folder: Path) -> ArtifactStore:
    from engine.models.pointer import packaged_base  # noqa: PLC0415  with numpy; most commands do without

    return ArtifactStore(folder, packaged_base())


def _workshop(config: Config, threads: int = 1) -> Workshop:
    from pgparley.router_training import Workshop  # noqa: PLC0415  brings torch

    return Workshop(_folder(config), config.engine.vectors, replace(config.encoder, threads=threads))


def _train(config: Config, snapshots: tuple[Snapshot, ...], start: str, threads: int) -> None:
    from engine.routing.training import Progress as Standing  # noqa: PLC0415  most commands do without
    from engine.routing.training import TrainingSettings  # noqa: PLC0415  as above
    from pgparley.router_training import RouterError, train_version  # noqa: PLC0415  brings torch

    workshop = _workshop(config, threads)
    with _bar() as bar:
        task = bar.add_task("training", total=None)

        def show(progress: Standing) -> None:
            said = f"training (cost {progress.databases:.2f} + {progress.tables:.2f})"
            bar.update(task, description=said, completed=progress.step, total=progress.steps)

        try:
            trained = train_version(workshop, snapshots, start, TrainingSettings(), show)
        except (RouterError, ArtifactError) as problem:
            fail(f"{problem}.")
    manifest = trained.manifest
    typer.echo(f"Version {manifest.version}: {manifest.questions} questions, {manifest.minutes:.1f} minutes.")
    _show_figures(manifest.figures)
    if trained.better:
        workshop.versions.use(manifest.version)
        typer.echo("It is in use from the next question on; `pgparley router rollback` takes it back.")
    else:
        typer.echo(
            "It does worse than what it was trained from on questions kept apart, and is not in use.\n"
            f"`pgparley router use {manifest.version}` puts it to use all the same."
        )


def _status(folder: Path, snapshots: tuple[Snapshot, ...], *, as_json: bool) -> None:
    from pgparley.router_training import Coverage, coverage  # noqa: PLC0415  brings torch

    store = _store(folder)
    try:
        versions, current = store.versions(), store.current()
    except ArtifactError as problem:
        fail(f"{problem}.")
    held = next((manifest for manifest in versions if manifest.version == current), None)
    known = coverage(held, snapshots) if held else {each.database: Coverage.NEW for each in snapshots}
    if as_json:
        shown = {"current": current, "versions": versions, "databases": known}
        print_json(shown, indent=True)
        return
    if held is None:
        typer.echo(f"Version {current} is not there: `pgparley router use VERSION` names another.")
    headings = ("version", "made", "from", "databases", "questions", "minutes", "right database first")
    print_table(*headings, rows=(_row(manifest, current) for manifest in versions))
    for state in Coverage:
        names = [name for name, found in known.items() if found is state]
        if names:
            more = f" and {len(names) - 10} more" if len(names) > 10 else ""  # noqa: PLR2004  a line's worth
            typer.echo(f"{state}: {', '.join(names[:10])}{more}")
    if any(found is not Coverage.TRAINED for found in known.values()):
        typer.echo(
            "Databases that the version does not know are routed to all the same, less surely: pgparley router train"
        )


def _row(manifest: Manifest, current: str) -> tuple[str, ...]:
    first = manifest.figures.get("database_r1")
    mark = " (in use)" if manifest.version == current else ""
    return (
        manifest.version + mark,
        minute(manifest.created),
        manifest.parent or "",
        str(len(manifest.schemas)),
        str(manifest.questions),
        f"{manifest.minutes:.1f}",
        "" if first is None else f"{100 * first:.1f} %",
    )


def _evaluate(
    config: Config, snapshots: tuple[Snapshot, ...], file: Path | None, version: str | None, *, as_json: bool
) -> None:
    from pgparley import router_training as work  # noqa: PLC0415  brings torch

    workshop = _workshop(config)
    try:
        asked = read_json_lines(file, work.AnsweredQuestion, _SHAPE) if file else None
        chosen = version or workshop.versions.current()
        figures, count = work.evaluate(workshop, snapshots, chosen, asked)
    except (work.RouterError, ArtifactError) as problem:
        fail(f"{problem}.")
    if as_json:
        print_json({"version": chosen, "n": count, "figures": figures})
        return
    typer.echo(f"Version {chosen}, {count} questions")
    _show_figures(figures)


def _show_figures(figures: dict[str, float]) -> None:
    rows = []
    for key, name in _NAMES.items():
        if key in figures:
            values = [figures[each] for each in (f"{key}_before", key) if each in figures]
            rows.append(
                [name, *(f"{value:.3f}" if key == "nll" else f"{100 * value:.1f} %" for value in values)]
            )
    if rows:
        before = ("before",) if "nll_before" in figures else ()
        print_table("figure", *before, "now", rows=rows)


def _bar() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True))
