"""The scorer's verdicts on statements, each asked for once: systems on the same engine show the same statements.

Owns the file of verdicts. Judging is the benchmark's scorer's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benchmarks.quality.candidates.journal import Answer, Cost, Proposal
from benchmarks.quality.candidates.judging import Scorer
from benchmarks.quality.candidates.questions import QuestionSet


@dataclass(frozen=True, slots=True)
class _Line:
    """Whether a statement is right under reading 1 and 2 of a question."""

    set: str
    id: str
    sql: str
    right: tuple[bool, bool]


class Verdicts:
    """Verdicts by set, question and statement."""

    def __init__(self, scorer: Scorer, file: Path) -> None:
        self._scorer = scorer
        self._file = file
        self._known: dict[tuple[str, str], dict[str, tuple[bool, bool]]] = defaultdict(dict)
        if file.is_file():
            for text in file.read_bytes().splitlines():
                self._keep(msgspec.json.decode(text, type=_Line))

    def judge(self, of: QuestionSet, wanted: Mapping[str, Sequence[str]]) -> None:
        """Has the statements of questions judged that are not yet; raises `JudgingError`. Blocks for seconds."""
        unknown = {
            key: [sql for sql in dict.fromkeys(statements) if sql not in self._known[of.name, key]]
            for key, statements in wanted.items()
        }
        asked = [Answer(key, tuple(map(Proposal, each)), Cost(0.0)) for key, each in unknown.items() if each]
        if not asked:
            return
        found = self._scorer.judge(of, asked).right
        lines = [
            _Line(of.name, answer.id, proposal.sql, right)
            for answer in asked
            for proposal, right in zip(answer.proposals, found[answer.id], strict=True)
        ]
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("ab") as file:
            file.writelines(msgspec.json.encode(line) + b"\n" for line in lines)
        for line in lines:
            self._keep(line)

    def right(self, of: QuestionSet, identity: str, sql: str, reading: int) -> bool:
        """Whether a judged statement is right under a reading, 1 or 2; raises `KeyError` where it was not judged."""
        return self._known[of.name, identity][sql][reading - 1]

    def _keep(self, line: _Line) -> None:
        self._known[line.set, line.id][line.sql] = line.right
