"""The command line. Every command reads the configuration, builds what it needs, and says what to do when it cannot."""

from __future__ import annotations

import asyncio
import getpass
import os
import signal
import sys
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from engine.values.errors import NLError
from pgparley.audit_commands import add_forget_command, audit_app
from pgparley.catalog_commands import catalog_app
from pgparley.check_command import check as run_checks
from pgparley.config import Config, ConfigError, cache_dir, chosen, load
from pgparley.engine_commands import ask as ask_engine
from pgparley.engine_commands import check_prompt
from pgparley.evaluation.calibration import calibration as show_calibration
from pgparley.evaluation.command import Evaluation
from pgparley.evaluation.command import evaluate as run_evaluation
from pgparley.init_command import add_init_command
from pgparley.logs import configure
from pgparley.plugins import NotInstalledError, embedded_model
from pgparley.processes import PartKind
from pgparley.serve import restart as restart_workers
from pgparley.serve_command import CannotStartError, serve_parts
from pgparley.store_commands import store_app
from pgparley.terminal import AsJson, fail


@dataclass(slots=True)
class _Options:
    file: Path | None = None


_options = _Options()


class Checked(StrEnum):
    """What `check` looks at: a part, or a prompt."""

    GATEWAY = PartKind.GATEWAY.value
    ENGINE = PartKind.ENGINE.value
    MODEL = PartKind.MODEL.value
    PAGE = PartKind.PAGE.value
    PROMPT = "prompt"


OnlyPart = Annotated[
    PartKind | None, typer.Argument(help="Only this part; the others are elsewhere.", show_default=False)
]


app = typer.Typer(
    name="pgparley",
    help="A PostgreSQL gateway that answers questions in plain words with rows.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(
    catalog_app(
        lambda: _config().engine.store,
        lambda: _config().upstream,
        lambda: _config().guard,
        lambda: str(_config().engine.socket),
        lambda: _config().catalog.login,
    ),
    name="catalog",
)
app.add_typer(audit_app(lambda: _config()), name="audit")  # noqa: PLW0108 - defined below
add_forget_command(app, lambda: _config())  # noqa: PLW0108 - defined below
app.add_typer(store_app(lambda: _config().engine.store), name="store")


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it so
    if wanted:
        typer.echo(f"pgparley {version('pgparley')}")
        raise typer.Exit


@app.callback()
def _read_options(
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", "-c", envvar="PGPARLEY_CONFIG", help="Configuration (default: ./pgparley.toml)."
        ),
    ] = None,
    *,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    _options.file = config


@app.command()
def serve(part: OnlyPart = None) -> None:
    """Start the gateway, the engine and, where no model server is configured, the embedded model."""
    config = _config()
    configure(config.gateway.log_level)
    try:
        serve_parts(config, _options.file, part)
    except CannotStartError as problem:
        fail(str(problem), problem.hint)
    except ConfigError as problem:
        fail(str(problem), "Run: pgparley check")


add_init_command(app, lambda: _options.file)


@app.command()
def check(
    what: Annotated[
        Checked | None,
        typer.Argument(
            help="Only this part; the others are elsewhere. Or the prompt of a question.", show_default=False
        ),
    ] = None,
    question: Annotated[
        str | None, typer.Argument(help="Of `check prompt`: in plain words.", show_default=False)
    ] = None,
    *,
    database: Annotated[
        str | None, typer.Option(help="Of `check prompt`: only this cataloged database.")
    ] = None,
    user: Annotated[
        str | None, typer.Option(help="Of `check prompt`: the role that asks (default: you).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what keeps this installation from working; `check prompt QUESTION`: what the model would be sent.

    Exit code: 0 it works, warnings or none; 1 something does not.
    """
    if (question is not None) != (what is Checked.PROMPT):
        raise typer.BadParameter("`check prompt` takes a question, and nothing else does")
    if question is not None:
        role = user or getpass.getuser()
        shown = check_prompt(_config(), question, database=database, user=role, as_json=as_json)
        sys.exit(asyncio.run(shown))
    part = None if what is None else PartKind(what.value)
    sys.exit(
        asyncio.run(run_checks(lambda: load(_options.file), chosen(_options.file), part, as_json=as_json))
    )


@app.command()
def restart() -> None:
    """Replace the running gateway's workers one by one; no connection is refused, and sessions may finish."""
    try:
        problem = asyncio.run(restart_workers(_config()))
    except OSError as unreachable:
        fail("no gateway is running", str(unreachable) or type(unreachable).__name__)
    if problem is not None:
        fail(problem)


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="The question, in plain words.")],
    *,
    json: Annotated[bool, typer.Option("--json", help="Print the whole outcome as JSON.")] = False,
    db: Annotated[str | None, typer.Option(help="Only this cataloged database.")] = None,
    k: Annotated[int | None, typer.Option("-k", help="Candidates at most.")] = None,
    user: Annotated[str | None, typer.Option(help="The role that asks (default: you).")] = None,
) -> None:
    """Ask the running engine, without a database session.

    Exit code: 0 answered, 1 an error, 2 asked back or abstained.
    """
    asking = ask_engine(_config(), question, db=db, k=k, user=user or getpass.getuser(), as_json=json)
    sys.exit(asyncio.run(asking))


@app.command()
def calibration(*, as_json: AsJson = False) -> None:
    """Show points, thresholds and observed coverage; `eval --calibrate` keeps points."""
    asyncio.run(show_calibration(_config(), as_json=as_json))


@app.command("eval")
def evaluate(
    file: Annotated[
        Path | None, typer.Argument(help="YAML or JSON lines of question, sql, database.", show_default=False)
    ] = None,
    *,
    verified: Annotated[bool, typer.Option("--verified", help="Ask the catalog's verified queries.")] = False,
    feedback: Annotated[bool, typer.Option("--feedback", help="Ask what users corrected or chose.")] = False,
    database: Annotated[
        str | None, typer.Option(help="Only its questions; also that of those that name none.")
    ] = None,
    user: Annotated[str | None, typer.Option(help="The role that asks (default: you).")] = None,
    k: Annotated[int | None, typer.Option("-k", help="Candidates at most (default: as configured).")] = None,
    named: Annotated[bool, typer.Option("--named", help="Ask as with nl.db set to the database.")] = False,
    json: Annotated[Path | None, typer.Option("--json", help="Write the report here, as JSON.")] = None,
    baseline: Annotated[
        Path | None, typer.Option("--baseline", help="An earlier --json: say what got better and worse.")
    ] = None,
    tried: Annotated[
        Path | None,
        typer.Option(
            "--with", help="A file as `catalog export` writes it: what it would change; nothing is saved."
        ),
    ] = None,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Keep a calibration point of each: hashes and scores.")
    ] = False,
    fail_under: Annotated[
        float | None, typer.Option("--fail-under", min=0.0, max=1.0, help="The least share right first.")
    ] = None,
) -> None:
    """Ask the running engine your own questions, whose answer is known, and report.

    Exit code: 0 done, 1 an error or below --fail-under, 2 wrong usage.
    """
    if (file is not None) + verified + feedback != 1:
        raise typer.BadParameter("give either a file, --verified or --feedback")
    if calibrate and tried is not None:
        raise typer.BadParameter("--calibrate and --with do not go together")
    run = Evaluation(
        *(file, user or getpass.getuser(), database, k, named, json, baseline, fail_under, tried),
        feedback=feedback,
        calibrate=calibrate,
    )
    sys.exit(asyncio.run(run_evaluation(_config(), run)))


@app.command("fetch-model")
def fetch_model(
    name: Annotated[
        str, typer.Argument(help="A known model, as qwen2.5-coder-7b, or a repository of the hub.")
    ] = "",
    file: Annotated[str, typer.Argument(help="The repository's file.")] = "",
    sha256: Annotated[str, typer.Option(help="The file's digest; without it the first one holds.")] = "",
) -> None:
    """Get an embedded language model (by default one of 1.1 GB), verify it and keep it in the cache."""
    own = _config().embedded_model.path
    try:
        path = embedded_model().fetch(own.parent, name, file, sha256)
    except NotInstalledError as missing:
        fail(str(missing), missing.hint)
    except NLError as problem:
        fail(problem.message, problem.detail, problem.hint)
    typer.echo(f"The model is at {path}")
    if path != own:
        typer.echo(f'To use it: [embedded_model] path = "{path}"')


@app.command()
def demo(
    *, keep: Annotated[bool, typer.Option("--keep", help="Leave everything running afterwards.")] = False
) -> None:
    """Sample databases, the catalog, the model, the gateway, and five questions asked through psql."""
    # The demo's libraries are an extra: nothing else needs them.
    from pgparley.demo.run import run  # noqa: PLC0415

    sys.exit(asyncio.run(run(cache_dir(), keep=keep)))


def main() -> None:
    """What the console script becomes."""
    # A container's first process is not ended by a signal that it does not handle (pid_namespaces(7)).
    if os.getpid() == 1:
        signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    app(prog_name="pgparley")


def _config() -> Config:
    try:
        return load(_options.file)
    except ConfigError as problem:
        fail(str(problem))


if __name__ == "__main__":
    main()
