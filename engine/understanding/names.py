"""The names and quoted texts of a question of which a statement says nothing."""

from __future__ import annotations

from collections.abc import Iterable

from engine.core.elements import ValueLink
from engine.linking.spans import Span, SpanKind, spans
from engine.text.stopwords import OPERATION_WORDS, STOP_WORDS
from engine.text.tokens import identifier_words
from engine.understanding.unknown import alike, schema_words
from schema_catalog.types import Snapshot

_NAMING = frozenset({SpanKind.NAME, SpanKind.QUOTED})
_GRAMMAR = STOP_WORDS | OPERATION_WORDS


def names_not_used(
    question: str, sql: str, snapshot: Snapshot, links: Iterable[ValueLink]
) -> tuple[str, ...]:
    """The names in `question` of which `sql` holds no word, unless the schema or the span of a link holds one.

    "Paris" of "the weather in Paris" where the statement filters by another place, or by none. Whether a linked name
    is used tells `engine.linking.mentions.values_not_used`.
    """
    known = {*identifier_words(sql), *schema_words(snapshot)}
    known.update(word for link in links for word in identifier_words(link.span))
    names = [span for span in spans(question) if span.kind in _NAMING and span.start > 0]
    longest = [span for span in names if not any(span.within(other) for other in names)]
    return tuple(dict.fromkeys(span.text for span in longest if _is_strange(span, known)))


def _is_strange(span: Span, known: Iterable[str]) -> bool:
    words = [word for word in identifier_words(span.text) if word not in _GRAMMAR and not word.isdigit()]
    return bool(words) and not any(alike(word, other) for word in words for other in known)
