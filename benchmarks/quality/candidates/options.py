"""The command's options."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from benchmarks.quality.candidates.questions import SETS, QuestionSet, Selection, by_name
from engine.calibration.splits import Split
from pgparley.config import cache_dir

ROOT = Path(__file__).resolve().parents[3]
PACES = {
    "pgparley": 10.0,
    "one_candidate": 2.5,
    "masks_in_prompt": 13.0,
    "judged_by_model": 12.0,
    "no_merging": 10.0,
    "no_values": 10.0,
    "no_conditions": 10.0,
    "no_ranking": 10.0,
    "first_stage_only": 10.0,
    "model_alone": 2.0,
    "sampling": 5.0,
    "forced_diversity": 9.0,
    "vanna": 4.0,
    "langchain": 4.0,
}
"""Seconds a question, for the estimate, until three questions were measured: two processors, nothing else running."""


@dataclass(frozen=True, slots=True)
class Options:
    """What is measured, on what, and where the results go."""

    bench: Path
    work: Path
    sets: tuple[QuestionSet, ...]
    systems: str | None
    selection: Selection
    k: int
    plan: bool
    score: bool
    json: Path | None
    plot: Path | None
    page: Path | None


def read_options(description: str | None) -> Options:
    """What the command line says; raises `ValueError` where it names what there is not."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality.candidates",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--bench", type=Path, default=ROOT.parent / "shared" / "bench", help="the data's folder"
    )
    parser.add_argument(
        "--work", type=Path, default=cache_dir() / "bench-quality", help="where answers are kept"
    )
    parser.add_argument("--only", help=f"sets, comma-separated, of {', '.join(each.name for each in SETS)}")
    parser.add_argument("--systems", help=f"systems, comma-separated, of {', '.join(PACES)}")
    parser.add_argument("--n", default="100", help="questions a set, drawn by --seed, or all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--half", type=int, choices=(0, 1), help="only questions whose text hashes to it")
    parser.add_argument("--split", choices=[*Split], help="only questions that the engine's split puts there")
    parser.add_argument("--k", type=int, default=6, help="candidates that pgparley is asked for")
    parser.add_argument("--plan", action="store_true", help="say what is left to ask, and for how long")
    parser.add_argument("--score", action="store_true", help="ask nothing, report what is answered")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    if given.n != "all" and (not given.n.isdecimal() or given.n == "0"):
        raise ValueError(f"--n is a number or all, not {given.n}")
    number = None if given.n == "all" else int(given.n)
    if not (given.bench / "score.py").is_file():
        raise ValueError(f"no benchmark in {given.bench}: give its folder with --bench")
    split = None if given.split is None else Split(given.split)
    return Options(
        given.bench,
        given.work,
        by_name(given.only, SETS, "set", lambda each: each.name),
        given.systems,
        Selection(number, given.seed, given.half, split),
        given.k,
        given.plan,
        given.score,
        given.json,
        given.plot,
        given.page,
    )
