"""The surrogate filter: a language model's word on a flagged decision, in the place of a person's (RTS §3.3).

A branching point is dropped where the model agrees with the decision. The paper fine-tuned its surrogate; what the
engine's own model is worth here, `benchmarks.quality.linking --surrogate` measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.core.deadline import Deadline
from engine.core.elements import WHOLE_TABLE, BranchingPoint
from engine.core.ports import LanguageModel, Prompt, Weighed
from engine.prompting.prompts import prompt
from engine.prompting.schema_text import schema_text
from schema_catalog.naming import quote_ident
from schema_catalog.types import ColumnKey, Snapshot

OPTIONS = ("A", "B")


@dataclass(frozen=True, slots=True)
class Opinion:
    """`log_odds`: that the element is relevant; None where the model did not report both options."""

    log_odds: float | None
    cost: Weighed

    def confirms(self, *, linked: bool) -> bool:
        """Whether the model agrees that the element is linked, or is not."""
        return self.log_odds is not None and (self.log_odds > 0) == linked


@dataclass(frozen=True, slots=True)
class Surrogate:
    """A language model that is asked whether an element is relevant to a question."""

    model: LanguageModel

    async def unconfirmed(
        self, points: Sequence[BranchingPoint], question: str, snapshot: Snapshot, deadline: Deadline
    ) -> tuple[BranchingPoint, ...]:
        """Those of `points` whose decision the model does not agree with; raises `NLError`."""
        opinions = [await self.opinion(point.element, question, snapshot, deadline) for point in points]
        return tuple(
            point
            for point, opinion in zip(points, opinions, strict=True)
            if not opinion.confirms(linked=point.linked)
        )

    async def opinion(
        self, element: ColumnKey, question: str, snapshot: Snapshot, deadline: Deadline
    ) -> Opinion:
        """Whether `element` of `snapshot` is relevant to `question`; raises `NLError`."""
        table = element[:2]
        text, _ = schema_text(snapshot, (table,))
        asked = Prompt(
            prompt("generate_system"),
            prompt("relevant_user", schema=text, question=question, element=_named(element, snapshot)),
        )
        weighed = await self.model.weigh(asked, OPTIONS, deadline=deadline)
        yes, no = weighed.logprobs
        return Opinion(None if yes is None or no is None else yes - no, weighed)


def _named(element: ColumnKey, snapshot: Snapshot) -> str:
    """The element in words: the table singer, the column singer.name."""
    table = next(snapshot.display_name(each) for each in snapshot.tables if each.key == element[:2])
    if element[2] == WHOLE_TABLE:
        return f"the table {table}"
    return f"the column {table}.{quote_ident(element[2])}"
