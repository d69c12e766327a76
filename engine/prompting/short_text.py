"""What names of the schema are short for as text for a prompt, behind the schema, so that the prefix stays the same."""

from __future__ import annotations

from collections.abc import Iterable

from engine.linking.short_names import ShortName
from engine.prompting.prompts import prompt


def short_text(names: Iterable[ShortName]) -> str:
    """The block for the prompt, or an empty text; a line is a name, or a part of one, and words of the question."""
    lines = [f"{each.part}: {each.words}" for each in names]
    return prompt("short_names", lines="\n".join(lines)) + "\n\n" if lines else ""
