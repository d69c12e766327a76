"""The question back that candidates give rise to: what is asked, what each option stands for, and in which words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from engine.ask.question_back import best_proposal
from engine.ask.wording import option_text
from engine.question.question import Question
from engine.values.candidate import Candidate, Preview
from engine.values.dialogue import Ambiguity, ClarifyingQuestion, Turn
from engine.values.elements import BranchingPoint, Entity, SchemaLinks
from tests.support.clarifying import best_question, expected_error
from tests.support.schemas import MUSIC, SCHOOL

ARTIST = ("public", "singer", "artist_name")
PERFORMER = ("public", "singer", "performer_name")

SNAPSHOTS = {"music": MUSIC, "school": SCHOOL}


@dataclass(frozen=True, slots=True)
class Case:
    """Statements, likeliest first, and the options that part them: words → positions."""

    statements: tuple[str, ...]
    ambiguity: Ambiguity
    options: dict[str, tuple[int, ...]]
    asked: str = ""
    database: str = "school"
    question: str = ""


CASES = {
    "column": Case(
        (
            "SELECT artist_name FROM singer WHERE country = 'France'",
            "SELECT t1.performer_name FROM singer AS t1 WHERE t1.country = 'France'",
        ),
        Ambiguity.COLUMN,
        {"artist name": (0,), "performer name": (1,)},
        'What do you mean by "names"?',
        "music",
        "Which names do French singers have?",
    ),
    "column of a condition": Case(
        ("SELECT name FROM pupil WHERE country = 'Jo'", "SELECT name FROM pupil WHERE name = 'Jo'"),
        Ambiguity.COLUMN,
        {"country": (0,), "name": (1,)},
        "What should be compared with 'Jo'?",
    ),
    "table": Case(
        ("SELECT name FROM choir WHERE year = 2014", "SELECT t.name FROM ensemble AS t WHERE t.year = 2014"),
        Ambiguity.COLUMN,
        {"choir": (0,), "ensemble": (1,)},
        "Which table do you mean?",
    ),
    "table or a join": Case(
        (
            "SELECT name, country FROM pupil",
            "SELECT t1.name, t2.country FROM pupil AS t1 JOIN pupil_country AS t2 ON t1.pupil_id = t2.pupil_id",
        ),
        Ambiguity.COLUMN,
        {"country of pupil": (0,), 'country of "pupil country"': (1,)},
        'What do you mean by "countries"?',
        question="Show the names and countries.",
    ),
    "value": Case(
        ("SELECT name FROM pupil WHERE country = 'France'", "SELECT name FROM pupil WHERE country = 'FRA'"),
        Ambiguity.VALUE,
        {"'France' as country": (0,), "'FRA' as country": (1,)},
        "Which value do you mean?",
    ),
    "comparison": Case(
        ("SELECT name FROM pupil WHERE age > 10", "SELECT name FROM pupil WHERE age >= 10"),
        Ambiguity.VALUE,
        {"age is more than 10": (0,), "age is at least 10": (1,)},
        "How should it be compared?",
    ),
    "outputs": Case(
        ("SELECT name FROM pupil", "SELECT name, country FROM pupil"),
        Ambiguity.OUTPUT,
        {"name alone": (0,), "name and country": (1,)},
        "What should be shown?",
    ),
    "repetition": Case(
        ("SELECT DISTINCT country FROM pupil", "SELECT country FROM pupil"),
        Ambiguity.OUTPUT,
        {"equal rows once": (0,), "every row, also equal ones": (1,)},
        "Should equal rows be shown once?",
    ),
    "direction": Case(
        ("SELECT name FROM pupil ORDER BY age DESC", "SELECT name FROM pupil ORDER BY age"),
        Ambiguity.OUTPUT,
        {"sorted by age from highest to lowest": (0,), "sorted by age from lowest to highest": (1,)},
    ),
    "aggregate": Case(
        ("SELECT SUM(members) FROM choir", "SELECT AVG(members) FROM choir"),
        Ambiguity.QUESTION,
        {"total members": (0,), "average members": (1,)},
        "What should be computed?",
    ),
    "grouping": Case(
        ("SELECT COUNT(*) FROM pupil GROUP BY country", "SELECT COUNT(*) FROM pupil GROUP BY country, age"),
        Ambiguity.QUESTION,
        {"country alone": (0,), "country and age": (1,)},
        "How should the rows be grouped?",
    ),
    "condition": Case(
        ("SELECT name FROM pupil WHERE age > 10", "SELECT name FROM pupil"),
        Ambiguity.QUESTION,
        {"age is more than 10": (0,), "without a condition": (1,)},
        "Which rows count?",
    ),
    "one condition more": Case(
        (
            "SELECT name FROM pupil WHERE age > 10 AND country = 'France'",
            "SELECT name FROM pupil WHERE age > 10",
        ),
        Ambiguity.QUESTION,
        {"country is 'France'": (0,), "not only where country is 'France'": (1,)},
        "Which rows count?",
    ),
    "one column or both": Case(
        (
            "SELECT artist_name FROM singer",
            "SELECT performer_name FROM singer",
            "SELECT artist_name, performer_name FROM singer",
        ),
        Ambiguity.OUTPUT,
        {"artist name": (0,), "performer name": (1,), "artist name and performer name": (2,)},
        "What should be shown?",
        "music",
    ),
}


def candidates(case: Case) -> list[Candidate]:
    total = sum(range(len(case.statements) + 1))
    return [
        Candidate(case.database, sql, confidence=(len(case.statements) - place) / total)
        for place, sql in enumerate(case.statements)
    ]


def asked(case: Case, turns: Sequence[Turn] = ()) -> ClarifyingQuestion | None:
    return best_question(candidates(case), SNAPSHOTS, case.question, turns)


@pytest.mark.parametrize("name", CASES)
def test_what_is_asked(name: str) -> None:
    case = CASES[name]
    question = asked(case)
    assert question is not None
    said = {
        option.words: tuple(case.statements.index(sql) for sql in option.statements)
        for option in question.options
    }
    assert said == case.options
    assert question.ambiguity is case.ambiguity
    assert question.words == (case.asked or question.words)
    assert expected_error(question, candidates(case)) < expected_error(None, candidates(case))


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_asked_twice(name: str) -> None:
    case = CASES[name]
    turns: list[Turn] = []
    seen = set()
    while (question := asked(case, turns)) is not None:
        options = frozenset(option.words for option in question.options)
        assert options not in seen
        seen.add(options)
        turns.append(Turn(question, 1))
    assert turns


def test_what_candidates_agree_on_is_not_asked_nor_what_all_read_elsewhere() -> None:
    same = Candidate("school", "SELECT name FROM pupil", confidence=0.6)
    spelt = replace(same, sql="SELECT p.name FROM public.pupil AS p", confidence=0.4)
    assert best_question([same, spelt], SNAPSHOTS, "") is None
    assert best_question([same], SNAPSHOTS, "") is None
    assert best_question([], SNAPSHOTS, "") is None
    these = [
        Candidate("school", "SELECT name, age FROM pupil ORDER BY age", confidence=0.6),
        Candidate("school", "SELECT name, age FROM pupil ORDER BY country", confidence=0.4),
    ]
    question = best_question(these, SNAPSHOTS, "")
    assert question is not None
    assert [set(option.elements) for option in question.options] == [set(), {("public", "pupil", "country")}]


def test_the_questions_own_phrase_is_asked_about() -> None:
    near = (
        Entity("singers", {ARTIST: 0.3, PERFORMER: 0.3}),
        Entity("stage names", {ARTIST: 0.6, PERFORMER: 0.5}),
    )
    question = best_question(candidates(CASES["column"]), SNAPSHOTS, "", entities=near)
    assert question is not None
    assert question.words == 'What do you mean by "stage names"?'


def test_names_that_read_alike_are_told_apart_by_their_tables() -> None:
    these = [
        Candidate(
            "school", "SELECT c.name FROM choir c JOIN pupil p ON c.choir_id = p.pupil_id", confidence=0.6
        ),
        Candidate(
            "school", "SELECT p.name FROM choir c JOIN pupil p ON c.choir_id = p.pupil_id", confidence=0.4
        ),
    ]
    question = best_question(these, SNAPSHOTS, "")
    assert question is not None
    assert [option.words for option in question.options] == ["name of choir", "name of pupil"]


def test_databases_are_told_apart_although_their_statements_are_the_same() -> None:
    other = replace(SCHOOL, database="evening_school")
    these = [
        Candidate("school", "SELECT name FROM pupil", confidence=0.6),
        Candidate("evening_school", "SELECT name FROM pupil", confidence=0.4),
    ]
    question = best_question(these, {"school": SCHOOL, "evening_school": other}, "")
    assert question is not None
    assert [option.databases for option in question.options] == [{"school"}, {"evening_school"}]
    assert [option.words for option in question.options] == ["school", "evening_school"]
    assert expected_error(question, these) == pytest.approx(0.1)


def test_the_likeliest_three_are_offered_and_the_likeliest_statement_is_shown() -> None:
    these = [
        Candidate("school", f"SELECT {name} FROM pupil", confidence=confidence)
        for name, confidence in (("country", 0.1), ("name", 0.2), ("pupil_id", 0.3), ("age", 0.4))
    ]
    these[3] = replace(these[3], preview=Preview(("age",), (("12",), (None,), ("14",), ("15",))))
    question = best_question(these, SNAPSHOTS, "")
    assert question is not None
    assert [option.words for option in question.options] == ["age", "pupil id", "name"]
    assert option_text(question.options[0]) == "age: 12 · \N{EN DASH} · 14 · …"
    assert option_text(question.options[1]) == "pupil id"


def test_a_long_preview_is_cut() -> None:
    rows = (("x" * 500, "y " * 300),) * 3
    question = asked(CASES["column"])
    assert question is not None
    text = option_text(replace(question.options[0], preview=Preview(("a", "b"), rows)))
    assert len(text) <= 200
    assert text.startswith("artist name: xxx")


LINKS = SchemaLinks(
    {ARTIST: 0.55, PERFORMER: 0.45},
    frozenset({ARTIST}),
    (BranchingPoint(ARTIST, linked=True, alternatives=(PERFORMER,)),),
    1.0,
)


def test_what_only_the_linker_finds_possible_is_an_option() -> None:
    one = [Candidate("music", "SELECT artist_name FROM singer", confidence=1.0)]
    proposal = best_proposal(one, SNAPSHOTS, Question(""), links={"music": LINKS})
    assert proposal is not None
    question = proposal.question
    assert proposal.errors.before == pytest.approx(1 - 0.55 * 0.9)
    assert proposal.errors.gain > 0.1
    assert [(option.words, option.statements) for option in question.options] == [
        ("artist name", ("SELECT artist_name FROM singer",)),
        ("performer name", ()),
    ]
    assert question.options[1].elements == {PERFORMER}
    assert best_question(one, SNAPSHOTS, "", [Turn(question, 1)], links={"music": LINKS}) is None


def test_what_cannot_be_parsed_is_in_no_option_of_the_others() -> None:
    these = [*candidates(CASES["column"]), Candidate("music", "SELECT FROM (", confidence=0.1)]
    question = best_question(these, SNAPSHOTS, "")
    assert question is not None
    assert {sql for option in question.options for sql in option.statements} == {
        each.sql for each in these[:2]
    }
