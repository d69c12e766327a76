"""What is known of a model's answer by itself, of which it gives no probabilities: facts of a reading's statement.

Owns what `engine.judge.model` weighs of it; the weights are fitted on a strong model's recorded answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sqlglot import exp

from engine.question.question import Question
from engine.statement.read import statement_of
from engine.values.candidate import Candidate, Evidence
from engine.values.elements import elements_read
from engine.values.state import Route
from schema_catalog.types import ColumnKey
from schema_catalog.words import identifier_words

NEAR = 0.5
"""How near to the question what shows no column counts as."""


def answer_features(
    candidate: Candidate, beside: Sequence[Candidate], question: Question, route: Route, found: Evidence
) -> dict[str, float]:
    """Of a model's reading. `beside`: all candidates, this one among them.

    `readings`, `parted`: the number of the model's readings, and whether their numbers of rows differ. `keyed`: a rule
    over keys or NULL made a variant with other rows. `assumes`: it assumes something. `fruitless`: as in
    `Candidate`. `unsaid`: as in `Evidence`. `single`: it gives one row. `outer`: it has an outer join. `shown`: the
    number of its output columns; `near`: the least cosine of one to the question's words. `far`: the least cosine
    of a word to what it reads. `unshown`: named columns of its tables that it does not show. `unasked`: its texts
    without a word of the question.
    """
    others = [each for each in beside if not each.is_twin]
    twins = [each for each in beside if each.needs_proof and each.meaning.place == candidate.meaning.place]
    statement = statement_of(candidate.sql, route.snapshot)
    tree, shown = statement.tree, statement.shown
    totals = {each.preview.total for each in others if each.preview is not None}
    total = None if candidate.preview is None else candidate.preview.total
    asked = frozenset(question.words)
    texts = [] if tree is None else [each.this for each in tree.find_all(exp.Literal) if each.is_string]
    return {
        "readings": math.log(len(others)),
        "parted": float(len(totals) > 1),
        "keyed": float(bool(twins)),
        "assumes": float(bool(candidate.meaning.assumes)),
        "fruitless": float(candidate.fruitless),
        "unsaid": math.log1p(found.unsaid),
        "single": float(total == 1),
        "outer": float(tree is not None and any(each.side for each in tree.find_all(exp.Join))),
        "shown": math.log(max(1, len(tree.selects))) if tree is not None else 0.0,
        "near": min((_nearest(key, route) for key in shown), default=NEAR),
        "far": farthest(candidate, route)[1],
        "unshown": math.log1p(len(_called(candidate, asked, route) - shown)),
        "unasked": math.log1p(sum(asked.isdisjoint(identifier_words(each)) for each in texts)),
    }


def _called(candidate: Candidate, asked: frozenset[str], route: Route) -> set[ColumnKey]:
    return {
        (*table.key, column.name)
        for table in route.snapshot.tables
        if table.key in candidate.tables
        for column in table.columns
        if (words := identifier_words(column.name)) and asked.issuperset(words)
    }


def _nearest(key: ColumnKey, route: Route) -> float:
    return max((entity.similarities.get(key, 0.0) for entity in route.entities), default=NEAR)


def farthest(candidate: Candidate, route: Route) -> tuple[str, float]:
    """The phrase of the question that is farthest from all that the statement reads, and its cosine to it."""
    read = elements_read(candidate.columns, candidate.tables)
    cosines = (
        (entity.text, max((entity.similarities.get(key, 0.0) for key in read), default=0.0))
        for entity in route.entities
    )
    return min(cosines, key=lambda one: one[1], default=("", NEAR))
