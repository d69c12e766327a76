"""The labels of enum columns as values that a question may mean: schema, so that nobody has to allow them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from engine.link.match import EQUAL
from engine.link.source import LISTED, linked_values
from engine.link.value_index import ValueIndex
from engine.question import normalise as folding
from engine.question.question import Question
from engine.question.spans import PHRASE_WORDS
from engine.values.elements import Relation, ValueLink, ValueList
from engine.values.state import Route
from schema_catalog.types import Snapshot, once_per_snapshot
from schema_catalog.values import ColumnValues


def label_lists(snapshot: Snapshot) -> tuple[ValueList, ...]:
    """Columns of at most `LISTED` labels with all of them: a statement can compare with no other text."""
    return tuple(
        ValueList((*table.key, column.name), column.labels)
        for table, column in snapshot.columns()
        if 0 < len(column.labels) <= LISTED
    )


def label_links(question: Question, route: Route) -> tuple[ValueLink, ...]:
    """The labels that `question` names, as `linked_values`. Reads the whole schema: not for the event loop."""
    index = _index(route.snapshot)
    if not index.columns:
        return ()
    found = linked_values(question, route, index, np.ones(len(index.columns), dtype=bool))
    known = {link.column for link in found}
    return (*found, *(link for link in _phrases(question, index) if link.column not in known))


def _phrases(question: Question, index: ValueIndex) -> Iterator[ValueLink]:
    """Labels of several words that stand in the question, as "in progress": no span begins with a preposition."""
    words = folding.words(question.text)
    runs = [words[at : at + n] for at in range(len(words)) for n in range(2, PHRASE_WORDS + 1)]
    keys = {folding.key(" ".join(run)): " ".join(run) for run in runs}
    for number in range(len(index)):
        span = keys.get(folding.key(index.text(number)))
        if span is not None:
            yield ValueLink(span, index.column(number), (index.text(number),), EQUAL, Relation.EQUALS)


@once_per_snapshot
def _index(snapshot: Snapshot) -> ValueIndex:
    lists = label_lists(snapshot)
    return ValueIndex([ColumnValues(each.column, each.values) for each in lists])
