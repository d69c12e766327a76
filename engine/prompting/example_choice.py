"""Chooses the worked examples that a prompt shows: like the question in its form, and in the statement it asks for.

DAIL-SQL (Gao et al., VLDB 2024, §4.2) compares questions whose words of the schema and values are masked, and the
structure of a preliminary statement with the examples'. Here every content word is masked, which needs no schema, and
the structure is what the conditions predict: a preliminary statement would cost as much as the answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from engine.conditions.types import Condition, Operator
from engine.prompting.example_library import WorkedExample, example_schemas
from engine.text.stopwords import GENERAL_WORDS, LABEL_WORDS, OPERATION_WORDS, STOP_WORDS

SHOWN = 3
"""Examples of a prompt: about 40 tokens each, which are read anew for each question."""

STRUCTURE = 1.0
"""Weight of the predicted structure, whose agreement lies in [0, 1], beside the cosine of the masked questions."""

CONSIDERED = 5
"""Conditions that count, the likeliest ones: the others hold a few hundredths of the probability."""

_KEPT = STOP_WORDS | OPERATION_WORDS | LABEL_WORDS | GENERAL_WORDS
_SCHEMA, _VALUE, _NUMBER = "thing", "value", "3"
_TOKEN = re.compile(
    r"(?P<quoted>'[^']*'(?!\w)|\"[^\"]*\"|\u201c[^\u201d]*\u201d)|(?P<number>\d[\d.,:/-]*)"
    r"|(?P<word>[^\W\d_]+(?:['\u2019-][^\W\d_]+)*)|(?P<mark>[?,;:()])"
)


def masked(question: str) -> str:
    """The form of a question: words of grammar and of operations, and a stand-in for each run of the others.

    "Which singers born after 1990 are from 'Lyon'?" is "which thing after 3 are from value ?".
    """
    form: list[str] = []
    for match in _TOKEN.finditer(question):
        text = _stand_in(match)
        if text not in (_SCHEMA, _VALUE) or form[-1:] != [text]:
            form.append(text)
    return " ".join(form)


def _stand_in(match: re.Match[str]) -> str:
    text = match[0]
    if match["quoted"]:
        return _VALUE
    if match["number"]:
        return _NUMBER
    if match["mark"] or text.lower() in _KEPT:
        return text.lower()
    return _VALUE if text[0].isupper() and match.start() else _SCHEMA


class ExampleLibrary:
    """`engine.core.ports.Examples` over the packaged library; `shown` of them for each question."""

    def __init__(self, shown: int = SHOWN) -> None:
        self._shown = shown
        self._pairs = tuple(pair for schema in example_schemas() for pair in schema.pairs)
        forms = [_parts(pair.question) for pair in self._pairs]
        seen = Counter(part for form in forms for part in form)
        self._numbers = {part: number for number, part in enumerate(seen)}
        self._rarity = np.log1p(len(forms) / np.fromiter(seen.values(), np.float32))
        self._forms = np.stack([self._vector(form) for form in forms])
        self._operators = _indicators([pair.operators for pair in self._pairs])

    def choose(self, question: str, conditions: Sequence[Condition]) -> tuple[WorkedExample, ...]:
        """See `engine.core.ports.Examples.choose`."""
        scores = self._forms @ self._vector(_parts(question))
        scores = scores + STRUCTURE * self._agreement(conditions[:CONSIDERED])
        best = np.argsort(-scores, kind="stable")[: self._shown]
        return tuple(self._pairs[number] for number in reversed(best.tolist()))

    def _vector(self, form: frozenset[str]) -> NDArray[np.float32]:
        """A unit vector over the parts of the library's questions, or zeros; the rarer a part, the more it weighs."""
        vector = np.zeros(len(self._numbers), dtype=np.float32)
        known = [self._numbers[part] for part in form if part in self._numbers]
        vector[known] = self._rarity[known]
        length = np.linalg.norm(vector)
        return vector / length if length else vector

    def _agreement(self, conditions: Sequence[Condition]) -> NDArray[np.float32]:
        """The expected Jaccard index of the examples' operators and those asked for, shape (examples,)."""
        asked = _indicators([each.kind.operators for each in conditions])
        shared = self._operators @ asked.T
        either = self._operators.sum(axis=1)[:, None] + asked.sum(axis=1)[None, :] - shared
        index = np.where(either > 0, shared / np.maximum(either, 1.0), 1.0)
        agreement: NDArray[np.float32] = index @ np.array(
            [each.probability for each in conditions], np.float32
        )
        return agreement


def _parts(question: str) -> frozenset[str]:
    """The words of the question's form, and its pairs of neighbours."""
    words = ["^", *masked(question).split()]
    return frozenset(words[1:]) | frozenset(" ".join(pair) for pair in pairwise(words))


def _indicators(sets: Sequence[frozenset[Operator]]) -> NDArray[np.float32]:
    """Zeros and ones, shape (len(sets), len(Operator))."""
    rows = [[operator in each for operator in Operator] for each in sets]
    return np.array(rows, dtype=np.float32).reshape(len(sets), len(Operator))
