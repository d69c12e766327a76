"""What a statement surely does not mean, by types, keys and values alone: no question is looked at."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import date

import pytest

from engine.findings.driver import said
from engine.findings.lint import Context
from engine.findings.rules import LINTS, RULES
from engine.findings.rules.coverage import the_covered
from engine.question.question import Question
from engine.statement.read import statement_of
from engine.values.candidate import Evidence, On, RuleKind
from engine.values.elements import ColumnFacts, ValueList
from schema_catalog.types import Attributes, Check, Column, Snapshot
from tests.support.golden_rules import SCHEMAS
from tests.support.schemas import MUSIC, table

ORDERS = Snapshot(
    "orders",
    ("public",),
    (
        replace(
            table("customer", "customer_id name"),
        ),
        replace(
            table("orders", "order_id customer_id", ("customer_id", "customer", "customer_id")),
            columns=(
                Column("order_id", "integer"),
                Column("customer_id", "integer"),
                Column("total", "integer"),
                Column("state", "text"),
                Column("kind", "order_kind", labels=("WEB", "SHOP")),
                Column("code", "integer", description="1 paid, 2 open, 3 closed"),
                Column("changed_at", "timestamp without time zone"),
                Column("seen_at", "timestamp with time zone"),
                Column("label", "citext"),
                Column("is_gift", "integer", description="0 = no, 1 = yes"),
                Column("due", "date"),
            ),
        ),
    ),
)
STATES = ValueList(("public", "orders", "state"), ("new", "paid", "Sent"))
LABELS = ValueList(("public", "orders", "label"), ("Fragile", "Heavy"))


def found(
    sql: str,
    snapshot: Snapshot = ORDERS,
    on: Collection[On] = frozenset({On.SCHEMA}),
    question: str = "",
    told: Sequence[ColumnFacts] = (),
) -> list[str]:
    context = Context(snapshot, Question(question), lists=(STATES, LABELS), told=told)
    return [each.says for each in said(statement_of(sql, snapshot), context, on)]


@pytest.mark.parametrize(
    ("condition", "says"),
    {
        "total = o.total": ["compares total with itself"],
        "o.total - o.total > 3": ["subtracts o.total from itself"],
        "total >= 3 AND total <= 3": ["leaves one value of total"],
        "total BETWEEN 3 AND 3": ["leaves one value of total"],
        "total > 3 AND total < 3": ["finds nothing: no value of total meets its conditions"],
        "total >= 4 AND total <= 3": ["finds nothing: no value of total meets its conditions"],
        "total = 4 AND total = 5": ["finds nothing: no value of total meets its conditions"],
        "due >= '2026-03-08' AND due < '2026-03-07'": ["finds nothing: no value of due meets its conditions"],
        "state NOT IN ('new', 'paid', 'Sent')": [
            "finds nothing: no value that state has meets its conditions"
        ],
        "state <> 'new' AND state <> 'paid' AND NOT state LIKE 'S%'": [
            "finds nothing: no value that state has meets its conditions"
        ],
        "lower(state) = 'Sent'": ["finds nothing: no value that state has meets its conditions"],
        "state = 'new' AND state = 'paid'": ["finds nothing: no value that state has meets its conditions"],
        "kind <> 'WEB' AND kind <> 'SHOP'": ["finds nothing: no value that kind has meets its conditions"],
        "changed_at = '2026-03-07 00:00:00'": ["finds only the first moment of 2026-03-07"],
        # What may be meant.
        "total > 3 AND total < 9": [],
        "total = 4": [],
        "total = 4 OR total = 5": [],
        "due >= '2026-03-07' AND due <= '2026-03-07'": [],
        "due = '2026-03-07'": [],
        "changed_at >= '2026-03-07' AND changed_at < '2026-03-08'": [],
        "changed_at = '2026-03-07 10:00:00'": [],
        "state NOT IN ('new', 'paid')": [],
        "state LIKE 'S\\_%'": [],
        "upper(state) = 'SENT'": [],
        "total > (SELECT AVG(total) FROM orders)": [],
        "total BETWEEN SYMMETRIC 9 AND 3": [],
        "seen_at >= '2026-03-07 00:00:00+02' AND seen_at < '2026-03-07 00:00:00+00'": [],
        "label = 'FRAGILE'": [],
        "label IN ('fragile', 'heavy')": [],
        # A text that nobody stored is looked for, and told by itself.
        "state = 'lost'": [],
    }.items(),
)
def test_conditions_that_leave_no_choice(condition: str, says: list[str]) -> None:
    assert found(f"SELECT o.order_id FROM orders AS o WHERE {condition}") == says


@pytest.mark.parametrize(
    ("question", "condition", "says"),
    [
        ("orders of a total of 3", "total BETWEEN 3 AND 3", []),
        ("orders with total three", "total >= 3 AND total <= 3", []),
        ("orders of 2020", "total BETWEEN 2020 AND 2020", []),
        ("orders of 2019", "total BETWEEN 2020 AND 2020", ["leaves one value of total"]),
        (
            "orders of a total of 3",
            "total > 3 AND total < 3",
            ["finds nothing: no value of total meets its conditions"],
        ),
    ],
)
def test_one_value_that_the_question_names_is_a_choice(
    question: str, condition: str, says: list[str]
) -> None:
    assert found(f"SELECT order_id FROM orders WHERE {condition}", question=question) == says


@pytest.mark.parametrize(
    ("least", "greatest", "says"),
    [
        ("2020-01-01 00:00:00", "2026-11-28 00:00:00", []),
        ("2020-01-01 00:00:00", "2026-11-28 10:30:00", ["finds only the first moment of 2026-03-07"]),
        ("2020-01-01 00:00:00.5", "2026-11-28 00:00:00", ["finds only the first moment of 2026-03-07"]),
        (None, None, ["finds only the first moment of 2026-03-07"]),
    ],
)
def test_a_column_of_whole_days_has_no_other_moment(
    least: str | None, greatest: str | None, says: list[str]
) -> None:
    told = ColumnFacts(("public", "orders", "changed_at"), least=least, greatest=greatest)
    for condition in ("changed_at = '2026-03-07'", "changed_at = '2026-03-07 00:00:00'"):
        sql = f"SELECT order_id FROM orders WHERE {condition}"
        assert found(sql, told=(told,)) == says
    rule = next(each for each in RULES if each.name == "whole_day")
    for condition in ("= '2026-03-07'", "<= '2026-03-07'", "BETWEEN '2026-03-01' AND '2026-03-07'"):
        draft = statement_of(f"SELECT order_id FROM orders WHERE changed_at {condition}", ORDERS).draft()
        assert draft is not None
        assert rule.fix is not None
        assert (rule.fix(draft, Context(ORDERS, told=(told,))) is None) is (not says)


STARS = Column("stars", "integer", description="1 = bad, 5 = good")


@pytest.mark.parametrize(
    ("column", "checks", "held", "says"),
    [
        (STARS, (), (), True),
        (replace(STARS, attributes=Attributes(unit="stars")), (), (), False),
        (STARS, ("CHECK (((stars >= 1) AND (stars <= 5)))",), (), False),
        (STARS, ("CHECK (((stars > 0) AND (stars < 6)))",), (), False),
        (STARS, ("CHECK ((stars = ANY (ARRAY[1, 5])))",), (), True),
        (STARS, ("CHECK ((stars > 0))",), (), True),
        (replace(STARS, domain="integer CHECK (((VALUE >= 1) AND (VALUE <= 5)))"), (), (), False),
        (
            replace(STARS, description="1 new, 2 paid, 3 sent"),
            ("CHECK (((stars >= 1) AND (stars <= 3)))",),
            (),
            True,
        ),
        (STARS, (), ("5", "1"), True),
        (STARS, (), ("4", "5", "1"), False),
        (STARS, (), ("9", "5", "1"), True),
    ],
)
def test_numbers_of_a_scale_are_a_measure(
    column: Column, checks: Sequence[str], held: tuple[str, ...], *, says: bool
) -> None:
    said_by = tuple(Check(("stars",), sql) for sql in checks)
    review = replace(table("review", "stars"), columns=(column,), primary_key=(), checks=said_by)
    reviews = Snapshot("shop", ("public",), (review,))
    told = (ColumnFacts(("public", "review", "stars"), held, whole=True),) if held else ()
    expected = ["averages stars, which is a code"] if says else []
    assert found("SELECT AVG(stars) FROM review", reviews, told=told) == expected


@pytest.mark.parametrize(
    ("shown", "says"),
    {
        "SUM(order_id)": ["adds up order_id, which is part of the key"],
        "AVG(o.customer_id)": ["averages customer_id, which is a reference"],
        "ROUND(AVG(code::numeric), 1)": ["averages code, which is a code"],
        "SUM(total)": [],
        "SUM(is_gift)": [],
        "AVG(is_gift)": [],
        "COUNT(order_id)": [],
        "MAX(order_id)": [],
        "SUM(total - order_id)": [],
    }.items(),
)
def test_keys_references_and_codes_are_no_amounts(shown: str, says: list[str]) -> None:
    assert found(f"SELECT {shown} FROM orders AS o") == says


HALF = "joins game and team by home_id alone, which is a part of their key"


@pytest.mark.parametrize(
    ("join", "says"),
    {
        "ON g.home_id = t.team_id": [HALF],
        "ON t.team_id = g.home_id WHERE g.season = 7": [
            "joins team and game by team_id alone, which is a part of their key"
        ],
        "ON g.home_id = t.team_id AND g.season = t.season": [],
        "ON g.home_id = t.team_id WHERE g.season = 7 AND t.season = 7": [],
        "USING (season)": ["joins game and team by season alone, which is a part of their key"],
        "ON g.game_id = t.name": [],
    }.items(),
)
def test_joins_by_half_of_a_key(join: str, says: list[str]) -> None:
    assert found(f"SELECT COUNT(*) FROM game AS g JOIN team AS t {join}", SCHEMAS["league"]) == says


@pytest.mark.parametrize("unique", [("team_id",), ("team_id", "season")])
def test_a_part_of_a_key_that_names_one_row_is_no_half(unique: tuple[str, ...]) -> None:
    tables = (
        replace(each, unique_keys=(unique,)) if each.name == "team" else each
        for each in SCHEMAS["league"].tables
    )
    league = replace(SCHEMAS["league"], tables=tuple(tables))
    join = "SELECT COUNT(*) FROM game AS g JOIN team AS t ON g.home_id = t.team_id"
    assert found(join, league) == ([] if unique == ("team_id",) else [HALF])


def test_two_references_to_one_thing_are_no_strangers() -> None:
    papers = Snapshot(
        "papers",
        ("public",),
        (
            table("paper", "paper_id title"),
            table("writes", "write_id paper_id", ("paper_id", "paper", "paper_id")),
            table(
                "cite",
                "cite_id citing_id cited_id",
                ("citing_id", "paper", "paper_id"),
                ("cited_id", "paper", "paper_id"),
            ),
        ),
    )
    assert found("SELECT 1 FROM writes JOIN cite ON writes.paper_id = cite.cited_id", papers) == []
    said = "compares writes.paper_id with cite.cite_id, but it refers to paper.paper_id"
    assert found("SELECT 1 FROM writes JOIN cite ON writes.paper_id = cite.cite_id", papers) == [said]


def test_a_table_of_another_schema_than_the_named_one() -> None:
    clinics = SCHEMAS["clinics"]
    for question, says in {
        "The fees of visits in the south clinic?": ["reads north.visit, not south.visit"],
        "The fees of visits in the north clinic?": [],
        "The fees of visits?": [],
    }.items():
        context = Context(clinics, Question(question))
        read = statement_of("SELECT visit.fee FROM north.visit", clinics)
        assert [each.says for each in said(read, context, {On.QUESTION})] == says, question


def test_a_column_of_which_the_question_says_nothing_for_the_described_one() -> None:
    plant = SCHEMAS["plant"]
    for question, says in {
        "What is the highest oil pressure at the bearing?": ["reads p02, not p01"],
        "What is the highest oil pressure?": [],
        "What is the highest p02 without the oil pressure at the bearing?": [],
    }.items():
        read = statement_of("SELECT MAX(p02) FROM log", plant)
        contradicted = said(read, Context(plant, Question(question)), {On.QUESTION})
        assert [each.says for each in contradicted] == says, question


def test_a_key_is_read_in_place_of_nothing() -> None:
    columns = (
        Column("number", "integer"),
        Column("craft", "integer"),
        Column("cap", "integer", description="seats"),
    )
    flight = replace(
        table("flight", "number craft", ("craft", "plane", "code")), columns=columns, primary_key=("number",)
    )
    planes = Snapshot("air", ("public",), (flight, table("plane", "code maker")))
    context = Context(planes, Question("Which makers have the most seats?"))
    for sql in (
        "SELECT maker, COUNT(*) FROM flight JOIN plane ON flight.craft = plane.code GROUP BY maker",
        "SELECT COUNT(number) FROM flight",
    ):
        assert said(statement_of(sql, planes), context, {On.QUESTION}) == (), sql


def test_what_says_nothing_of_a_right_statement() -> None:
    for sql in (
        "SELECT COUNT(*) FROM concert WHERE year = '2014'",
        "SELECT s.name, COUNT(*) FROM stadium AS s JOIN concert AS c USING (stadium_id) GROUP BY s.name",
    ):
        assert found(sql, MUSIC) == []


MAGAZINE = Snapshot(
    "magazine",
    ("public",),
    tuple(
        replace(table(name, f"{name}_id magazine"), primary_key=(f"{name}_id",))
        for name in ("advertising", "subscription")
    ),
)


def test_tables_that_no_key_joins_are_told_and_weigh_of_their_own() -> None:
    paired = "SELECT a.magazine FROM advertising AS a JOIN subscription AS s ON a.magazine = s.magazine"
    assert found(paired, MAGAZINE, {On.CATALOG}) == [
        "pairs rows of advertising with rows of subscription by columns that are no key of either"
    ]
    for sql in (
        "SELECT a.magazine FROM advertising AS a JOIN advertising AS b ON a.magazine = b.magazine",
        "SELECT a.magazine FROM advertising AS a JOIN subscription AS s ON s.subscription_id = a.advertising_id",
        "SELECT a.magazine FROM advertising AS a WHERE EXISTS (SELECT FROM subscription WHERE subscription_id = 1)",
        "SELECT magazine FROM advertising UNION SELECT magazine FROM subscription",
    ):
        assert found(sql, MAGAZINE, {On.CATALOG}) == [], sql
    [finding] = said(statement_of(paired, MAGAZINE), Context(MAGAZINE, Question("")), {On.CATALOG})
    assert Evidence(findings=(finding,)).features["paired"] == 1.0
    assert Evidence(findings=(finding,)).features["doubted"] == 0.0


@pytest.mark.parametrize(
    "condition",
    [
        "due >= '2020-01-01' AND due <= '9999-12-31'",
        "due >= date_trunc('decade', CURRENT_DATE)",
        "due >= CURRENT_DATE - INTERVAL '99999 years'",
        "date_trunc(state, due) = '2001-01-01'",
        "changed_at::date = '9999-12-31'",
    ],
)
def test_days_of_no_calendar_cover_nothing_that_is_known(condition: str) -> None:
    apart = statement_of(f"SELECT order_id FROM orders WHERE {condition}", ORDERS).apart
    assert apart is not None
    assert the_covered(apart, date(2026, 11, 29)) is None


def test_there_are_not_more_than_the_rooms_allow() -> None:
    assert len(RULES) <= 40
    assert len(LINTS) <= 48
    assert sum(each.on is On.QUESTION and each.kind is RuleKind.READING for each in LINTS) <= 10
