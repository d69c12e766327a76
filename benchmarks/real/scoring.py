"""Has the benchmark's scorer judge answers, database by database, and makes the figures of a half.

Owns the questions in the form that the scorer reads. Intervals resample the databases.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from benchmarks.quality.ablations.results import Outcome, interval, outcomes
from benchmarks.quality.candidates.figures import Figure
from benchmarks.quality.candidates.journal import Answer, Cost, Proposal
from benchmarks.quality.candidates.judging import Scorer
from benchmarks.quality.candidates.questions import Judge, QuestionSet
from benchmarks.quality.resampling import Estimate, estimate
from benchmarks.real.databases import SCHEMAS
from benchmarks.real.questions import RealQuestion
from benchmarks.real.systems import ALONE, WHOLE
from pgparley.cluster import Cluster

Outcomes = Mapping[str, Mapping[str, Outcome]]
"""By system and question's id."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Of the questions that both systems were asked. `times`: pgparley's accuracy by the model alone's."""

    n: int
    acc1: Estimate
    set_acc: Estimate
    set_size: Estimate
    alone_acc1: Estimate
    times: Figure


@dataclass(frozen=True, slots=True)
class Judging:
    """The scorer of the folder `bench` over the databases of a server. `folder`: for what it reads and writes."""

    bench: Path
    running: Cluster
    folder: Path

    def judge(
        self, questions: Sequence[RealQuestion], answers: Mapping[str, Sequence[Answer]]
    ) -> dict[str, dict[str, Outcome]]:
        """The outcomes of each system; raises `JudgingError`."""
        found: dict[str, dict[str, Outcome]] = {name: {} for name in answers}
        for database in dict.fromkeys(each.database for each in questions):
            own = [each for each in questions if each.database == database]
            ids = {each.id: database for each in own}
            scorer, of = self.scorer(database, own)
            some = {name: [one for one in given if one.id in ids] for name, given in answers.items()}
            for name, judged in outcomes(scorer, of, ids, some).items():
                found[name] |= judged
        return found

    def scorer(self, database: str, questions: Sequence[RealQuestion]) -> tuple[Scorer, QuestionSet]:
        """The scorer of one database, and its questions as it reads them."""
        file = self.folder / database / "questions.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = [
            {
                "id": each.id,
                "db": SCHEMAS[database][0],
                "question": each.text,
                "gold": each.gold[0],
                "gold_alternatives": each.gold[1:],
            }
            for each in questions
        ]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        scorer = Scorer(self.bench, self.running.dsn(database), self.folder / database)
        return scorer, QuestionSet(database, str(file.resolve()), Judge.EXECUTION)


def refused(judging: Judging, questions: Sequence[RealQuestion]) -> list[str]:
    """The gold statements that the scorer does not find right: none, unless it cannot tell their ties."""
    answers = [Answer(each.id, tuple(map(Proposal, each.gold)), Cost(0.0)) for each in questions]
    wrong = []
    for database in dict.fromkeys(each.database for each in questions):
        own = [each for each in questions if each.database == database]
        scorer, of = judging.scorer(database, own)
        ids = {each.id for each in own}
        right = scorer.judge(of, [each for each in answers if each.id in ids]).right
        for each in own:
            verdicts = right.get(each.id, ((False, False),) * len(each.gold))
            wrong += [f"{each.id}: {sql}" for sql, (ok, _) in zip(each.gold, verdicts, strict=True) if not ok]
    return wrong


def figures(found: Outcomes) -> Figures | None:
    """None where no question was asked of both."""
    both = [(found[WHOLE][key], found[ALONE][key]) for key in found[WHOLE] if key in found[ALONE]]
    if not both:
        return None
    owners = [whole.database for whole, _ in both]
    return Figures(
        len(both),
        estimate([whole.first for whole, _ in both], owners),
        estimate([whole.found for whole, _ in both], owners),
        estimate([len(whole.statements) for whole, _ in both], owners),
        estimate([alone.first for _, alone in both], owners),
        interval(both, lambda pair: pair[0].database, _times),
    )


def _times(pairs: Sequence[tuple[Outcome, Outcome]]) -> float:
    below = fmean(alone.first for _, alone in pairs)
    return fmean(whole.first for whole, _ in pairs) / below if below else float("inf")
