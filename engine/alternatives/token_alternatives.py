"""Other columns that the model found likely where it named one, by its tokens' probabilities.

Where a question may mean either of two columns, the model divides its probability between them: Odin's masks find the
second by another call, here the first answer shows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.core.candidate import Candidate
from engine.core.ports import Token
from schema_catalog.types import ColumnKey, Snapshot

_NAME = re.compile(r"'(?:[^']|'')*'|\"(?P<quoted>[^\"]+)\"|(?P<bare>[^\W\d]\w*)")
_PART = re.compile(r"\w+")
_LEAD = ' \n(."'
"""Characters of a token before a name begins."""


@dataclass(frozen=True, slots=True)
class TokenAlternative:
    """The model's probability of `other`, a column of the same table, in place of `used`."""

    used: ColumnKey
    other: ColumnKey
    probability: float


@dataclass(frozen=True, slots=True)
class _Branch:
    """An alternative to `name` that begins with `start`, or is `start` where `whole`."""

    name: str
    start: str
    whole: bool
    probability: float

    def leads_to(self, name: str) -> bool:
        return name == self.start if self.whole else name.startswith(self.start)


def token_alternatives(
    candidate: Candidate, tokens: Sequence[Token], snapshot: Snapshot
) -> list[TokenAlternative]:
    """Alternatives to columns of `candidate`, which was written as `tokens`, likeliest first."""
    columns = {table.key: [column.name for column in table.columns] for table in snapshot.tables}
    found: dict[tuple[ColumnKey, ColumnKey], float] = {}
    for branch in _branches(tokens):
        for used in candidate.columns:
            if used[2].lower() != branch.name:
                continue
            others = [
                each
                for each in columns.get(used[:2], ())
                if each != used[2] and branch.leads_to(each.lower())
            ]
            for other in others:
                pair = used, (*used[:2], other)
                found[pair] = max(found.get(pair, 0.0), branch.probability / len(others))
    pairs = sorted(found.items(), key=lambda item: -item[1])
    return [TokenAlternative(used, other, probability) for (used, other), probability in pairs]


def _branches(tokens: Sequence[Token]) -> Iterator[_Branch]:
    text = "".join(token.text for token in tokens)
    names = [match.span(kind) for match in _NAME.finditer(text) if (kind := match.lastgroup)]
    place = 0
    for token in tokens:
        begin = place + _lead(token.text)
        place += len(token.text)
        for start, end in names:
            if start <= begin < end:
                yield from _others(token, text[start:end].lower(), text[start:begin].lower())


def _others(token: Token, name: str, before: str) -> Iterator[_Branch]:
    """`before`: the part of the name in earlier tokens; without one, characters of `_LEAD` are skipped."""
    lead = "" if before else token.text[: _lead(token.text)]
    for other, probability in token.others:
        part = _PART.match(other, len(lead)) if other.startswith(lead) else None
        if part is None:
            continue
        branch = _Branch(name, before + part[0].lower(), part.end() < len(other), probability)
        if not branch.leads_to(name):
            yield branch


def _lead(text: str) -> int:
    return len(text) - len(text.lstrip(_LEAD))
