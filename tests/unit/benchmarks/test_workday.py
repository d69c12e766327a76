"""The working day's cases: no gold reaches a system, the judge's ranks come back by statement, figures by mechanism."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.harness.journal import Answer, Cost, Proposal
from benchmarks.harness.outcomes import Outcome
from benchmarks.harness.questions import QuestionSet
from benchmarks.harness.systems import ALONE, WHOLE
from benchmarks.quality.workday.__main__ import Row, by_mechanism, summary
from benchmarks.quality.workday.cases import Cases, Judge

SCORER = """
import argparse, json, pathlib, sys
p = argparse.ArgumentParser()
p.add_argument("command")
for name in ("--dsn", "--predictions", "--json"):
    p.add_argument(name)
a = p.parse_args()
if a.dsn == "down":
    sys.exit("no server")
given = [json.loads(line) for line in pathlib.Path(a.predictions).read_text().splitlines()]
assert [each["id"] for each in given] == ["a-1", "b-1"]
ranks = [next((n for n, c in enumerate(g["candidates"], 1) if c["sql"] == "right"), None) for g in given]
items = [{"id": g["id"], "rank": rank} for g, rank in zip(given, ranks)]
pathlib.Path(a.json).write_text(json.dumps({"items": items}))
"""


@pytest.fixture
def cases(tmp_path: Path) -> Cases:
    folder = tmp_path / "bench"
    (folder / "workday").mkdir(parents=True)
    (folder / "workday.py").write_text(SCORER, encoding="utf-8")
    items = [
        {"id": f"{case}-1", "case": case, "mechanism": f"about {case}", "question": "Q?", "golds": ["SECRET"]}
        for case in "ab"
    ]
    (folder / "workday" / "questions.jsonl").write_text("\n".join(map(json.dumps, items)), encoding="utf-8")
    return Cases(folder, tmp_path)


def test_no_gold_is_read(cases: Cases) -> None:
    assert [item["mechanism"] for item in cases.items] == ["about a", "about b"]
    assert "SECRET" not in repr(cases.items)


def test_each_statement_is_judged_alone(cases: Cases) -> None:
    wanted = {"a-1": ["right", "right", "wrong"], "b-1": ["wrong", "right"]}
    found = Judge(cases, "up").judge(QuestionSet("workday", ""), wanted)
    assert found == {
        "a-1": ((True, True), (True, True), (False, False)),
        "b-1": ((False, False), (True, True)),
    }


def _outcome(key: str, *proposals: tuple[float | None, bool]) -> Outcome:
    made = tuple(Proposal("SELECT", "db", confidence) for confidence, _ in proposals)
    return Outcome(Answer(key, made, Cost(1.0)), "db", tuple((right, right) for _, right in proposals))


def test_figures_by_mechanism() -> None:
    found = {
        "a-1": _outcome("a-1", (0.9, True)),
        "a-2": _outcome("a-2", (0.6, False), (0.3, True)),
        "b-1": _outcome("b-1"),
        "b-2": _outcome("b-2", (0.5, False)),
    }
    rows = by_mechanism(WHOLE, found, {"a-1": "A", "a-2": "A", "b-1": "B", "b-2": "B"})
    assert rows == [
        Row("A", WHOLE, 2, first=1, found=2, sure=1, none=0),
        Row("B", WHOLE, 2, first=0, found=0, sure=0, none=1),
        Row("all", WHOLE, 4, first=1, found=2, sure=1, none=1),
    ]
    alone = by_mechanism(ALONE, {"a-1": _outcome("a-1", (None, True))}, {"a-1": "A"})
    expected = {"first": 0.25, "found": 0.5, "sure": 0.25, "none": 0.25, "alone_first": 1.0}
    assert summary([*rows, *alone]) == expected
