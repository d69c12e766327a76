"""What a strong model's second call is worth: all readings found with two calls against one, on AMBROSIA's open half.

    python -m benchmarks.quality.models.second_call --calls FOLDER [--recorded] [--n 60] [--clear 20] [--json FILE]

Each new prompt becomes FOLDER/q1/NNNN.txt, q2 for a second call, q3 for one that mends; its answer is read from a1, a2
or a3, written by whoever plays the model, from the prompt and its SYSTEM.txt alone. Run it again when they are written:
questions of which an answer is missing are counted and left out of what is compared. `--recorded`: the first call is
what was recorded, of another prompt.
"""

from __future__ import annotations

import asyncio
import json
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from rich.console import Console

from benchmarks.harness.command import check_bench, finished, plain_parser, told_command
from benchmarks.harness.drawing import Item, digest, in_half_a, read_items
from benchmarks.harness.intervals import Figure, mean
from benchmarks.harness.questions import Question
from benchmarks.harness.report import Part, Run, write_result
from benchmarks.harness.report import shown as shown_figure
from benchmarks.harness.scorer import scored
from benchmarks.harness.site import DATA, load, named, prepared, serving
from benchmarks.harness.systems import asked_now
from benchmarks.quality.models.recorded import Messages, answering_by, asked, recorded, reply, shown
from engine.app import pipeline
from engine.values.errors import NLError
from engine.values.model_settings import Effort
from engine.values.tools import Tools
from pgparley.cluster import Cluster
from schema_catalog.types import Database

MODULE = "benchmarks.quality.models.second_call"

FILE = "ambrosia/questions.jsonl"
K = 5
CALLS = 6


@dataclass(slots=True)
class Played:
    """Prompts and answers of a folder, by number and by call. `index`: the number of each prompt."""

    folder: Path
    first: Mapping[str, str]
    index: dict[str, str] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for name in ("q1", "a1", "q2", "a2", "q3", "a3"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        if self._file.is_file():
            self.index = json.loads(self._file.read_text(encoding="utf-8"))

    @property
    def _file(self) -> Path:
        return self.folder / "index.json"

    def answer(self, messages: Messages) -> str | None:
        """What was written for the prompt, None where nothing is yet; a new prompt gets a file."""
        system, user = (each["content"] for each in messages)
        call = "2" if "\n### Already found\n" in user else "1" if user.endswith(asked(user)) else "3"
        if call == "1" and (known := self.first.get(asked(user))) is not None:
            return known
        key = f"{digest(system + user):x}"
        if key not in self.index:
            number = 1 + sum(each.startswith(call) for each in self.index.values())
            self.index[key] = f"{call}/{number:04d}"
            (self.folder / f"q{self.index[key]}.txt").write_text(user, encoding="utf-8")
            (self.folder / f"q{call}/SYSTEM.txt").write_text(system, encoding="utf-8")
            self._file.write_text(json.dumps(self.index), encoding="utf-8")
        path = self.folder / f"a{self.index[key]}.txt"
        if path.is_file():
            return path.read_text(encoding="utf-8").strip("\n")
        self.missing.add(self.index[key])
        return None


def drawn(bench: Path, options: Namespace) -> list[Item]:
    """So many of each kind, first those that nobody has recorded, or only those that are; the clear ones of half A."""
    known = {item["id"] for item in recorded(bench)}
    items = sorted(read_items(bench / FILE), key=lambda item: (item["id"] in known, digest(item["id"])))
    items = [item for item in items if not options.recorded or item["id"] in known]
    return [
        *[item for item in items if item["ambiguous"]][: options.n],
        *[item for item in items if not item["ambiguous"] and in_half_a(item["db"])][: options.clear],
    ]


def replies(bench: Path) -> dict[str, str]:
    """What was recorded, as a model's reply, by question."""
    return {
        item["question"]: reply(
            *((each["meaning"], each["sql"]) for each in item["readings"]), cannot=item["why_not"]
        )
        for item in recorded(bench)
    }


@dataclass(frozen=True, slots=True)
class Answer:
    """What is shown of a question with one call and with two. `said`: what the second gave, None without one."""

    item: Item
    once: tuple[str, ...]
    twice: tuple[str, ...]
    said: str | None


async def _answer(tools: Tools, item: Item) -> Answer | None:
    """None where an answer is missing."""
    asked_for = Question(item["id"], item["question"], item["db"])
    states = []
    for effort in (Effort.NORMAL, Effort.THOROUGH):
        try:
            state = await pipeline.run(asked_now(asked_for, K, CALLS), replace(tools, effort=effort))
        except NLError:
            return None
        states.append(state)
    once, twice = (tuple(each.sql for each in shown(state)) for state in states)
    said = next((line.detail for line in states[1].trace if line.event == "asked once more"), None)
    return Answer(item, once, twice, said)


def _figures(answers: Sequence[Answer], dsn: str, options: Namespace) -> dict[str, Figure | float]:
    """Of both ways the share of ambiguous questions with all readings, of readings, of clear ones with several rows."""
    found: dict[str, dict[str, Item]] = {}
    for way in ("once", "twice"):
        given = [
            {"id": each.item["id"], "candidates": [{"sql": sql} for sql in getattr(each, way)]}
            for each in answers
        ]
        report = scored(
            options.bench, "readings", options.bench / FILE, given, options.work / "scoring" / way, dsn=dsn
        )
        found[way] = {each["id"]: each for each in report["items"]}

    def compared(name: str, value: Callable[[Item], float], *, ambiguous: bool) -> dict[str, Figure]:
        own = [each.item for each in answers if each.item["ambiguous"] is ambiguous]
        owners = [each["db"] for each in own]
        one, two = ([float(value(found[way][each["id"]])) for each in own] for way in ("once", "twice"))
        if not own:
            return {}
        gains = [b - a for a, b in zip(one, two, strict=True)]
        sides = {f"{name}_once": one, f"{name}_twice": two, f"{name}_gain": gains}
        return {key: mean(values, owners) for key, values in sides.items()}

    return {
        **compared("all", lambda each: all(each["found"]), ambiguous=True),
        **compared("share", lambda each: sum(each["found"]) / len(each["found"]), ambiguous=True),
        **compared("first", lambda each: each["first"], ambiguous=True),
        **compared("rows", lambda each: each["size"], ambiguous=True),
        **compared("clear_more_than_one", lambda each: each["size"] > 1, ambiguous=False),
        **compared("clear_in_set", lambda each: all(each["found"]), ambiguous=False),
        "second_calls": sum(each.said is not None for each in answers) / len(answers),
        "nothing_new": sum((each.said or "").endswith(" 0 new") for each in answers) / len(answers),
    }


async def _run(options: Namespace, console: Console) -> None:
    items = drawn(options.bench, options)
    databases = sorted({item["db"] for item in items})

    async def fill(running: Cluster) -> tuple[Database, ...]:
        await prepared(running, DATA)
        await asyncio.to_thread(load, running, options.bench, ("ambrosia",))
        return tuple(named(running, name) for name in databases)

    played = Played(options.calls, replies(options.bench) if options.recorded else {})
    async with serving(options.work, fill) as place, answering_by(place.tools, played.answer) as tools:
        answers = [answer for item in items if (answer := await _answer(tools, item)) is not None]
        console.print(f"{len(items)} questions, {len(answers)} answered; missing: {sorted(played.missing)}")
        found = _figures(answers, place.dsn, options) if answers else {}
    for name, value in found.items():
        console.print(f"{name:28}", f"{value:.3f}" if isinstance(value, float) else shown_figure(value))
    if options.json is not None and found:
        kind = "recorded" if options.recorded else "played"
        flat = {key: value if isinstance(value, float) else value.value for key, value in found.items()}
        tables = {key: value if isinstance(value, float) else asdict(value) for key, value in found.items()}
        run = Run("models", told_command(MODULE, sys.argv[1:]), options.seed, {"k": K, "calls": CALLS})
        summary = {f"second_call_{kind}_{key}": value for key, value in flat.items()}
        write_result(options.json, run, {f"second_call_{kind}": Part(len(answers), tables, summary)})


def main() -> int:
    """Asks, prints the figures, returns the exit status (2: no data, another run; 130: stopped)."""
    made = plain_parser(MODULE, __doc__)
    made.add_argument("--calls", type=Path, required=True)
    made.add_argument("--work", type=Path, required=True)
    made.add_argument("--recorded", action="store_true", help="the first call is what was recorded")
    made.add_argument("--n", type=int, default=60)
    made.add_argument("--clear", type=int, default=20)

    def read() -> Namespace:
        options = made.parse_args()
        check_bench(options.bench)
        return options

    return finished(read, _run)


if __name__ == "__main__":
    sys.exit(main())
