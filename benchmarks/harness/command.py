"""The options that mean the same to every benchmark, and how a command ends."""

from __future__ import annotations

import argparse
import asyncio
import shlex
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Protocol, TypeVar

from rich.console import Console

from benchmarks.harness.journal import locked
from benchmarks.harness.machine import ROOT
from benchmarks.harness.scorer import JudgingError
from pgparley.config import cache_dir

OWN = frozenset({"--bench", "--work", "--wordnet", "--out", "--json", "--page", "--outcomes", "--against"})
"""Options that say where things lie on one machine, and change no figure."""


@dataclass(frozen=True, slots=True)
class Options:
    """What is measured, on what, and where the results go. `n`: questions a set; None: each set's own number."""

    bench: Path
    work: Path
    sets: str | None
    systems: str | None
    n: int | None
    seed: int
    half: int | None
    k: int
    plan: bool
    score: bool
    json: Path | None
    page: Path | None
    outcomes: Path | None
    against: Path | None


OptionsT = TypeVar("OptionsT", bound=Options)
WorkingT = TypeVar("WorkingT", bound=Options | argparse.Namespace)
NamedT = TypeVar("NamedT", bound="Named")


class Named(Protocol):
    """Something with a name."""

    @property
    def name(self) -> str: ...  # noqa: D102 - see the class


def parser(module: str, description: str | None, *, k: int) -> argparse.ArgumentParser:
    """A parser of `Options`, with `k` candidates by default."""
    made = plain_parser(module, description)
    work = cache_dir() / f"bench-{module.rsplit('.', 1)[-1]}"
    made.add_argument("--work", type=Path, default=work, help="where answers are kept")
    made.add_argument("--sets", help="comma-separated")
    made.add_argument("--systems", "--arms", help="comma-separated")
    made.add_argument("--n", type=int, help="questions a set, drawn by --seed")
    made.add_argument("--half", type=int, choices=(0, 1), help="only questions whose text hashes to it")
    made.add_argument("--k", type=int, default=k, help="candidates that pgparley is asked for")
    made.add_argument("--plan", action="store_true", help="say what is left to ask, ask nothing")
    made.add_argument("--score", action="store_true", help="ask nothing, report what is answered")
    made.add_argument("--page", type=Path, help="write the report here")
    made.add_argument("--outcomes", type=Path, help="a line of JSON for each set, system and question")
    made.add_argument("--against", type=Path, help="the outcomes of an earlier run, to be compared with")
    return made


def plain_parser(module: str, description: str | None) -> argparse.ArgumentParser:
    """A parser of --bench, --seed and --json."""
    made = argparse.ArgumentParser(
        prog=f"python -m {module}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    shared = ROOT.parent / "shared" / "bench"
    made.add_argument("--bench", type=Path, default=shared, help="the data's folder")
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--json", type=Path, help="the results file, of which this run replaces its parts")
    return made


def options_of(given: argparse.Namespace, kind: type[OptionsT]) -> OptionsT:
    """What the command line says; raises `ValueError` where there is no data."""
    check_bench(given.bench)
    if given.n is not None and given.n < 1:
        raise ValueError(f"--n is a number of questions, not {given.n}")
    return kind(**{each.name: getattr(given, each.name) for each in fields(kind)})


def check_bench(bench: Path) -> None:
    """Raises `ValueError` where the folder holds no benchmark."""
    if not (bench / "score.py").is_file():
        raise ValueError(f"no benchmark in {bench}: give its folder with --bench")


def by_name(names: str | None, known: Sequence[NamedT], what: str) -> tuple[NamedT, ...]:
    """The members of `known` that a comma-separated list names, in `known`'s order; raises `ValueError`."""
    if names is None:
        return tuple(known)
    wanted = set(names.split(","))
    if unknown := wanted - {each.name for each in known}:
        told = ", ".join(each.name for each in known)
        raise ValueError(f"no {what} {', '.join(sorted(unknown))}: there are {told}")
    return tuple(each for each in known if each.name in wanted)


def measuring(
    made: argparse.ArgumentParser,
    kind: type[OptionsT],
    run: Callable[[OptionsT, Console], Coroutine[Any, Any, None]],
) -> int:
    """Reads options, runs, returns the exit status (2: no data, wrong options, another run; 130: stopped)."""
    return finished(lambda: options_of(made.parse_args(), kind), run)


def finished(
    read: Callable[[], WorkingT], run: Callable[[WorkingT, Console], Coroutine[Any, Any, None]]
) -> int:
    """As `measuring`, with options that `read` reads."""
    console = Console(width=200)
    try:
        options = read()
        with locked(options.work):
            asyncio.run(run(options, console))
    except KeyboardInterrupt:
        console.print("Stopped. The same command goes on from here.")
        return 130
    except BlockingIOError:
        console.print("another run uses this work folder", style="red")
        return 2
    except (ValueError, JudgingError) as problem:
        console.print(f"{problem}", style="red", markup=False)
        return 2
    return 0


def told_command(program: str, arguments: Sequence[str]) -> str:
    """The command that makes a result again, on any machine: without the options of `OWN` and their values."""
    parted = [
        part for each in arguments for part in ((each,) if not each.startswith("--") else each.split("=", 1))
    ]
    kept = [
        each
        for before, each in zip(["", *parted], parted, strict=False)
        if each not in OWN and before not in OWN
    ]
    return shlex.join(["python", "-m", program, *kept])
