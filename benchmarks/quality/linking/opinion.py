"""Whether a language model holds an element of a schema for relevant to a question: the surrogate of RTS §3.3."""

from __future__ import annotations

from engine.core.deadline import Deadline
from engine.core.elements import WHOLE_TABLE
from engine.core.ports import LanguageModel, Prompt
from engine.prompting.prompts import prompt
from engine.prompting.schema_text import schema_text
from schema_catalog.naming import quote_ident
from schema_catalog.types import ColumnKey, Snapshot

OPTIONS = ("A", "B")

_ASKED = """### Schema
{schema}

### Question
{question}

Is {element} relevant to the question?
A. Yes
B. No
Answer with the letter alone.
"""


async def relevance(
    model: LanguageModel, element: ColumnKey, question: str, snapshot: Snapshot, deadline: Deadline
) -> float | None:
    """The log-odds that `element` is relevant; None where the model did not report both options. Raises `NLError`."""
    text, _ = schema_text(snapshot, (element[:2],))
    user = _ASKED.format(schema=text, question=question, element=_named(element, snapshot))
    weighed = await model.weigh(Prompt(prompt("generate_system"), user), OPTIONS, deadline=deadline)
    yes, no = weighed.logprobs
    return None if yes is None or no is None else yes - no


def _named(element: ColumnKey, snapshot: Snapshot) -> str:
    """The element in words: the table singer, the column singer.name."""
    table = next(snapshot.display_name(each) for each in snapshot.tables if each.key == element[:2])
    if element[2] == WHOLE_TABLE:
        return f"the table {table}"
    return f"the column {table}.{quote_ident(element[2])}"
