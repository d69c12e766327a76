"""What is known beside the schema as text for a prompt: terms, values, what was learned, and the dialogue."""

from __future__ import annotations

from collections.abc import Container

from engine.core.state import Route
from engine.dialogue.answering import conversation_text
from engine.dialogue.types import Dialogue
from engine.prompting.example_text import example_text
from engine.prompting.prompts import prompt
from engine.prompting.term_text import term_text
from engine.prompting.value_text import value_text
from schema_catalog.types import ColumnKey, Snapshot


def known_text(
    route: Route, dialogue: Dialogue, shown: Snapshot, hidden: Container[ColumnKey] = frozenset()
) -> str:
    """The blocks for the prompt, or an empty text; only of elements of `shown` that are not in `hidden`."""
    text = term_text(route.terms, shown, hidden)
    text += value_text(route.values, shown, hidden)
    text += example_text(route.learned, shown, hidden)
    if lines := conversation_text(dialogue):
        text += prompt("conversation", lines=lines) + "\n\n"
    return text
