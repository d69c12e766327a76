"""What each statement of an answer does: in words, with its terms and units, what rules changed, what is against it.

Of the first it is told which of its elements are doubtful (`engine.judge.doubtful_elements`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from engine.judge.doubtful_elements import STAGE, marks
from engine.statement.description import describe
from engine.statement.tree import parsed
from engine.statement.written import defined
from engine.values import wording
from engine.values.candidate import Candidate
from engine.values.messages import TraceLine
from engine.values.refusal import absent
from engine.values.state import State
from schema_catalog.types import Snapshot


def explained(state: State) -> State:
    """`state` with its candidates' explanations, behind what is said of them. Parses each: not for the event loop."""
    if not state.candidates or state.from_catalog:
        return state
    first = state.verified or state.candidates[0]
    doubts = {
        route.database.name: [wording.NOTHING_MEANS.format(each.text) for each in route.unknown]
        for route in state.routes
        if state.doubtful
    }
    told = [
        replace(
            each,
            explanation=each.explanation
            + explain(each, first, doubts.get(each.database), state.route_of(each.database).snapshot),
        )
        for each in state.candidates
    ]
    lines = _marked(state)
    if lines:
        words = "; ".join([told[0].explanation, *(wording.DOUBTFUL.format(line.event) for line in lines)])
        told[0] = replace(told[0], explanation=words)
    return replace(state, candidates=tuple(told)).noted(*lines)


def _marked(state: State) -> list[TraceLine]:
    """What of the first statement is doubtful; nothing beside a known answer, or where each answers a part."""
    first = state.candidates[0]
    if state.verified is not None or first.explanation:
        return []
    found = marks(state.candidates, state.route_of(first.database).snapshot)
    return [TraceLine(STAGE, each.words, first.sql, each.sure) for each in found]


def explain(
    candidate: Candidate,
    best: Candidate,
    doubts: Sequence[str] | None = None,
    snapshot: Snapshot | None = None,
) -> str:
    """What the statement does in words, its terms and units, what rules changed, and what it alone reads.

    `doubts`: what else is against it where it is hardly what was asked; None where it is not doubted. `snapshot`: whose
    comments tell its columns.
    """
    meaning = candidate.meaning.says.rstrip(".")
    # Some models give the statement once more as its meaning.
    own = meaning and parsed(meaning) is None
    said = [meaning if own else describe(candidate.sql, snapshot)]
    said += (
        [wording.ASSUMES.format(candidate.meaning.assumes.rstrip("."))] if candidate.meaning.assumes else []
    )
    said += candidate.meaning.beside
    said += [*(f"{each.name}: {defined(each)}" for each in candidate.evidence.used)]
    said += [*candidate.evidence.notes, *(change.how for change in candidate.changes)]
    against = [absent(candidate.missing)] if candidate.missing else []
    silent = wording.of(wording.SAYS_NOTHING, (f"'{each}'" for each in candidate.evidence.words))
    against += [silent] if silent else []
    if doubts is not None:
        against = [wording.DOUBTED.format(", ".join([*against, *doubts]) or wording.DOUBTED_WHOLE)]
    words = "; ".join([*said, *against, *_in_rows(candidate, best)])
    # A reading says itself what it is.
    if candidate.database != best.database or candidate.meaning.says:
        return words
    gained = sorted(".".join(key[1:]) for key in candidate.columns - best.columns)
    lost = sorted(".".join(key[1:]) for key in best.columns - candidate.columns)
    if gained and lost:
        return f"{words}; {wording.OTHER_COLUMNS.format(', '.join(gained), ', '.join(lost))}"
    return words


def _in_rows(candidate: Candidate, best: Candidate) -> list[str]:
    """How many rows a statement finds, where one of it and the best was made of the other, which finds others."""
    made = [each.changes[-1] for each in (candidate, best) if each.changes]
    counts = [_rows_found(each) for each in (candidate, best)]
    if not any({each.before, each.after} == {candidate.sql, best.sql} for each in made) or None in counts:
        return []
    return [wording.OTHER_ROWS.format(*counts)] if counts[0] != counts[1] else []


def _rows_found(candidate: Candidate) -> str | None:
    """Rows that a statement gives, or that it counts where it does nothing else; None where that is not known."""
    preview, tree = candidate.preview, parsed(candidate.sql)
    if preview is None or preview.total is None or tree is None:
        return None
    alone = [item.unalias() for item in tree.expressions]
    counts = preview.total == len(alone) == 1 and isinstance(alone[0], exp.Count)
    return preview.rows[0][0] if counts else str(preview.total)
