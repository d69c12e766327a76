"""What the commands that ask a model for hours have in common: their ends, and the options that mean the same."""

from __future__ import annotations

import argparse
import asyncio
import shlex
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from rich.console import Console

from benchmarks.quality.candidates.journal import locked
from benchmarks.quality.candidates.judging import JudgingError
from pgparley.config import cache_dir

ROOT = Path(__file__).resolve().parents[3]


OWN = frozenset({"--bench", "--work", "--wordnet", "--out", "--json", "--page", "--plot", "--outcomes"})
"""Options that say where things lie on one machine, and change no figure."""


class Working(Protocol):
    """Options that say where answers are kept."""

    @property
    def work(self) -> Path:
        """One run at a time uses it."""


OptionsT = TypeVar("OptionsT", bound=Working)


def finished(
    read: Callable[[], OptionsT],
    run: Callable[[OptionsT, Console], Coroutine[Any, Any, None]],
    console: Console,
) -> int:
    """Reads options, runs, returns the exit status (2: no data, wrong options, another run; 130: stopped)."""
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


def common_parser(program: str, description: str | None) -> argparse.ArgumentParser:
    """A parser of --bench, --work, --seed, --half, --k, --plan, --score and --json."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {program}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--bench", type=Path, default=ROOT.parent / "shared" / "bench", help="the data's folder"
    )
    parser.add_argument(
        "--work", type=Path, default=cache_dir() / "bench-quality", help="where answers are kept"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--half", type=int, choices=(0, 1), help="only questions whose text hashes to it")
    parser.add_argument("--k", type=int, default=6, help="candidates that pgparley is asked for")
    parser.add_argument("--plan", action="store_true", help="say what is left to ask, and for how long")
    parser.add_argument("--score", action="store_true", help="ask nothing, report what is answered")
    parser.add_argument("--json", type=Path)
    return parser


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


def check_bench(bench: Path) -> None:
    """Raises `ValueError` where the folder holds no benchmark."""
    if not (bench / "score.py").is_file():
        raise ValueError(f"no benchmark in {bench}: give its folder with --bench")
