"""The outcome of the pipeline as the rows of an answer."""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.candidate import Candidate
from engine.core.state import State
from engine.types import AnswerRow, RowKind


def answer_rows(state: State, shown: Sequence[Candidate], qid: str) -> tuple[AnswerRow, ...]:
    """A row for each of `shown`, from 1; one row of kind `abstain` without any."""
    if not shown:
        return (_abstained(state, qid),)
    return tuple(
        candidate_row(number, candidate, qid, verified=candidate is state.verified)
        for number, candidate in enumerate(shown, 1)
    )


def candidate_row(number: int, candidate: Candidate, qid: str, *, verified: bool) -> AnswerRow:
    """Row `number` of answer `qid`."""
    return AnswerRow(
        n=number,
        kind=RowKind.VERIFIED if verified else RowKind.CANDIDATE,
        database=candidate.database,
        # A person's word has no confidence of ours.
        confidence=None if verified else round(candidate.confidence, 3),
        sql=candidate.sql,
        explanation=candidate.explanation,
        next=f"NL CHOOSE {number} OF '{qid}'",
        qid=qid,
    )


def _abstained(state: State, qid: str) -> AnswerRow:
    """Why there is no candidate, and what would help: no guess is shown."""
    if not state.routes:
        why = "No database that you may read seems to hold this. Name what you look for as its tables and columns do"
    elif state.ask.exclude:
        why = "No other statement than those shown stood every check. Ask in other words"
    else:
        names = ", ".join(route.database.name for route in state.routes)
        why = f"No statement on {names} stood every check. Name the table or column you mean, or ask a smaller part"
    return AnswerRow(1, RowKind.ABSTAIN, None, None, None, why, "NL HELP", qid)
