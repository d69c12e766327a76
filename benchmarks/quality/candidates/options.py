"""The command's options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.quality.candidates.command import check_bench, common_parser
from benchmarks.quality.candidates.questions import SETS, QuestionSet, Selection, by_name
from engine.calibration.splits import Split

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
    parser = common_parser("benchmarks.quality.candidates", description)
    parser.add_argument("--only", help=f"sets, comma-separated, of {', '.join(each.name for each in SETS)}")
    parser.add_argument("--systems", help=f"systems, comma-separated, of {', '.join(PACES)}")
    parser.add_argument("--n", default="100", help="questions a set, drawn by --seed, or all")
    parser.add_argument("--split", choices=[*Split], help="only questions that the engine's split puts there")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    if given.n != "all" and (not given.n.isdecimal() or given.n == "0"):
        raise ValueError(f"--n is a number or all, not {given.n}")
    number = None if given.n == "all" else int(given.n)
    check_bench(given.bench)
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
