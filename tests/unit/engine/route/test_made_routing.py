"""Questions and words that a model made of a schema: they help to find it, and weigh less than what a DBA says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine.question.question import Question
from engine.route import scoring
from engine.route.index import Index, build
from engine.route.router import HybridRouter
from engine.route.scoring import choose, made_cosines, of_made, score
from engine.values.ports import Match
from schema_catalog.types import MadeQuestion, ReadableColumns, Snapshot
from tests.unit.engine.route.test_index import ENCODER, WORDS, asked, catalog, whole
from tests.unit.engine.route.test_thesaurus import named

ASKED = "who sold best this week"
STAFF = named("staff", "person_id", "net_amount", table="deal")
OTHERS = (named("fleet", "plate", "mileage", table="car"), named("school", "pupil", "grade", table="class"))


def made(snapshot: Snapshot, *questions: str) -> Snapshot:
    tables = tuple(table.key for table in snapshot.tables)
    reads = tuple((*table.key, column.name) for table, column in snapshot.columns())
    return replace(snapshot, made_questions=tuple(MadeQuestion(each, tables, reads) for each in questions))


def spoken(snapshot: Snapshot, *, synonyms: tuple[str, ...] = (), proposed: tuple[str, ...] = ()) -> Snapshot:
    """With words for its last column."""
    (table,) = snapshot.tables
    *others, last = table.columns
    told = replace(last, synonyms=synonyms, proposed_synonyms=proposed)
    return replace(snapshot, tables=(replace(table, columns=(*others, told)),))


def ranked(question: str, *snapshots: Snapshot, without: ReadableColumns = frozenset()) -> dict[str, Match]:
    """By database, the likeliest first; nobody may read `without`."""
    views = [(snapshot, whole(snapshot)[1] - without) for snapshot in snapshots]
    return {each.snapshot.database: each for each in HybridRouter(ENCODER).rank(Question(question), views)}


def first(question: str, *snapshots: Snapshot, without: ReadableColumns = frozenset()) -> str:
    return next(iter(ranked(question, *snapshots, without=without)))


def test_a_question_in_words_that_only_a_made_question_holds_finds_its_database() -> None:
    before = ranked(ASKED, *OTHERS, STAFF)
    found = ranked(ASKED, *OTHERS, made(STAFF, "who sold best this week", "which deals are open"))
    assert next(iter(found)) == "staff" != next(iter(before))
    assert found["staff"].evidence > 0.5 > before["staff"].evidence, "it is not taken for one about nothing"
    for each in OTHERS:
        assert found[each.database].logit == before[each.database].logit


def test_of_many_databases_it_is_among_those_that_are_looked_at() -> None:
    crowd, question = [build(each, ENCODER.encode) for each in catalog(450)], asked(ASKED)

    def is_chosen(snapshot: Snapshot) -> bool:
        index = Index([*crowd, build(snapshot, ENCODER.encode)])
        return len(crowd) in choose(question.sentence, question.words, index)[0]

    assert [is_chosen(STAFF), is_chosen(made(STAFF, ASKED))] == [False, True]


def test_who_may_not_read_what_it_was_made_of_gets_no_help_from_it() -> None:
    hidden = frozenset({("public", "deal", "net_amount")})
    known = ranked(ASKED, *OTHERS, made(STAFF, ASKED), without=hidden)
    plain = ranked(ASKED, *OTHERS, STAFF, without=hidden)
    assert [(name, each.logit, each.evidence) for name, each in known.items()] == [
        (name, each.logit, each.evidence) for name, each in plain.items()
    ]
    table = replace(STAFF.tables[0], name="bonus")
    both = replace(STAFF, tables=(table, *STAFF.tables))
    about_both = made(both, ASKED)
    other_table = frozenset(key for key in whole(both)[1] if key[1] == "bonus")
    assert first(ASKED, *OTHERS, about_both) == "staff"
    assert first(ASKED, *OTHERS, about_both, without=other_table) != "staff"


def test_a_word_that_was_proposed_finds_its_column_and_a_synonym_weighs_more() -> None:
    question = "the turnover of each month"
    assert first(question, *OTHERS, spoken(STAFF, proposed=("turnover",))) == "staff"
    (said, proposed, nothing) = (
        ranked(question, *OTHERS, each)["staff"].logit
        for each in (spoken(STAFF, synonyms=("turnover",)), spoken(STAFF, proposed=("turnover",)), STAFF)
    )
    assert said > proposed > nothing


@pytest.mark.parametrize("question", ["turnover per month", "what was the turnover of each branch last year"])
def test_no_comment_weighs_more_through_what_was_made_than_a_dba(question: str) -> None:
    """A table's owner has a comment make the model say the very question and the very word."""
    own = spoken(replace(STAFF, database="own"), synonyms=("turnover",))
    theirs = made(spoken(replace(STAFF, database="theirs"), proposed=("turnover",)), question)
    assert first(question, theirs, own, *OTHERS) == "own"
    commented = replace(STAFF, database="theirs", tables=(replace(STAFF.tables[0], description=question),))
    as_comment, as_made = (
        ranked(question, each, *OTHERS)["theirs"].logit
        for each in (commented, made(replace(STAFF, database="theirs"), question))
    )
    assert as_made < as_comment


def test_where_nothing_was_made_scores_are_the_same_to_the_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    index = Index([build(snapshot, ENCODER.encode) for snapshot in catalog(30)])
    assert index.questions.shape == (0, 128)
    questions = [asked(f"the {one} of each {other}") for one in WORDS[:5] for other in WORDS[5:]]
    for each in questions:
        cosines = made_cosines(each.sentence, index, np.arange(30))
        assert (cosines == -1).all()
        assert (of_made(cosines) == 0).all()
    found = [score(each, index) for each in questions]
    monkeypatch.setattr(scoring, "of_made", lambda _: 0.0)
    assert found == [score(each, index) for each in questions]
