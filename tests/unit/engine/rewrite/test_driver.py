"""What the driver makes of rules: which run, in which order, how many readings, and what one that fails costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from engine.errors import InvalidSettingError
from engine.linking.mentions import mentioned_tables
from engine.rewrite import driver
from engine.rewrite.driver import (
    READINGS,
    Rewritten,
    check_names,
    correct,
    normalise,
    readings,
    repair,
    shown_once,
)
from engine.rewrite.rule import Context, Rule, RuleKind, Statement
from engine.rewrite.rules import RULES
from tests.support.golden_rules import SCHEMAS
from tests.support.schemas import MUSIC

Worth = Callable[..., None]

PLAYED = (
    "FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id"
    " JOIN concert AS c ON e.concert_id = c.concert_id"
)


@pytest.fixture
def worth(monkeypatch: pytest.MonkeyPatch) -> Worth:
    """Sets what readings are worth; nothing where a test does not."""

    def given(**table: float) -> None:
        monkeypatch.setattr("engine.rewrite.worth._table", lambda: table)

    given()
    return given


def asked(question: str, name: str = "music") -> Context:
    snapshot = SCHEMAS[name]
    return Context(snapshot, question, mentioned=mentioned_tables(question, snapshot))


def made(sql: str, context: Context, off: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """(the rules that made it, the reading), likeliest first."""
    return [
        (" ".join(change.rule for change in each.changes), each.sql)
        for each in readings(Rewritten(sql), context, off)
    ]


def test_a_chain_of_repairs_is_one_statement_that_says_what_each_did() -> None:
    sql = "SELECT title FROM concert ORDER BY capacity LIMIT 1"
    repaired = repair(Rewritten(sql), asked(""))
    assert repaired.sql == (
        "SELECT concert.title FROM concert JOIN stadium ON concert.stadium_id = stadium.stadium_id"
        " ORDER BY stadium.capacity LIMIT 1"
    )
    assert [change.rule for change in repaired.changes] == ["requalify", "join_missing_tables"]
    assert [change.before for change in repaired.changes] == [sql, repaired.changes[0].after]
    assert repaired.changes[-1].after == repaired.sql


@pytest.mark.parametrize("sql", ["not SQL at all (", "SELECT FROM WHERE (", "DELETE FROM singer", ""])
def test_what_is_no_query_stays(sql: str) -> None:
    context = asked("which singers did not sing in both?")
    assert normalise(Rewritten(sql), context) == repair(Rewritten(sql), context) == Rewritten(sql)
    assert readings(Rewritten(sql), context) == []


@pytest.mark.usefixtures("worth")
def test_a_rule_that_is_off_does_not_run() -> None:
    total = f"SELECT e.entry_id {PLAYED}"
    required = asked("", "required")
    assert normalise(Rewritten(total), required).changes != ()
    assert normalise(Rewritten(total), required, ("drop_total_join",)) == Rewritten(total)
    sql = "SELECT title FROM concert ORDER BY capacity LIMIT 1"
    assert repair(Rewritten(sql), asked(""), ("requalify",)) == Rewritten(sql)
    question = asked("greatest of stadiums")
    greatest = "SELECT name FROM stadium ORDER BY capacity DESC"
    assert [rules for rules, _ in made(greatest, question)] == ["unknown_last"]
    assert made(greatest, question, ("unknown_last",)) == []


@pytest.mark.usefixtures("worth")
def test_a_kind_runs_its_own_rules_alone() -> None:
    sql = "SELECT AVG(capacity) FROM stadium ORDER BY MAX(name) DESC"
    assert {change.kind for change in repair(Rewritten(sql), asked("")).changes} == {"repair"}
    assert normalise(Rewritten(sql), asked("")) == Rewritten(sql)
    found = readings(Rewritten(sql), asked(""))
    assert {change.kind for each in found for change in each.changes} == {"reading"}


def broken(statement: Statement, _context: Context) -> str | None:
    statement.tree.set("expressions", [])
    raise LookupError("no such thing")


@pytest.mark.usefixtures("worth")
@pytest.mark.parametrize("kind", list(RuleKind))
def test_a_rule_that_fails_is_skipped_and_the_others_run(
    kind: RuleKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = Rule("failing", 1, kind, broken)
    monkeypatch.setattr(driver, "RULES", (failing, *RULES))
    sql = f"SELECT e.entry_id, e.concert_id {PLAYED} ORDER BY e.concert_id DESC"
    with capture_logs() as logs:
        normal = normalise(Rewritten(sql), asked("", "required"))
        repaired = repair(Rewritten("SELECT title FROM concert ORDER BY capacity"), asked(""))
        others = made(sql, asked("entries"))
        correct(Rewritten(sql), asked(""))
        once = shown_once(Rewritten("SELECT country FROM singer"), asked(""))
    assert [change.rule for change in once.changes] == ["rows_once"]
    assert [change.rule for change in normal.changes] == ["drop_total_join"]
    assert [change.rule for change in repaired.changes] == ["requalify", "join_missing_tables"]
    assert any("unknown_last" in rules for rules, _ in others)
    assert {(each["event"], each["rule"], each["error"]) for each in logs} == {
        ("rule_failed", "failing", "LookupError")
    }


def last(statement: Statement, context: Context) -> str | None:
    """A rule that looks at the statement's own text."""
    assert statement.written == context.question
    return None


@pytest.mark.usefixtures("worth")
def test_a_rule_sees_what_the_model_wrote_whatever_was_changed_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sql = "SELECT title FROM concert ORDER BY capacity"
    monkeypatch.setattr(driver, "RULES", (*RULES, Rule("last", 1, RuleKind.REPAIR, last)))
    with capture_logs() as logs:
        repaired = repair(Rewritten(sql), replace(asked(""), question=sql))
    assert len(repaired.changes) == 2
    assert logs == []


def test_readings_are_of_the_statement_and_of_its_readings(worth: Worth) -> None:
    sql = "SELECT c.title FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id ORDER BY c.year DESC"
    context = asked("concerts, the latest first")
    dropped = "SELECT c.title FROM concert AS c ORDER BY c.year DESC"
    last = f"{sql} NULLS LAST"
    assert made(sql, context) == [
        ("drop_unasked_join", dropped),
        ("unknown_last", last),
        ("drop_unasked_join unknown_last", f"{dropped} NULLS LAST"),
    ]
    worth(drop_unasked_join=0.5, unknown_last=1.0)
    assert [rules for rules, _ in made(sql, context)] == [
        "drop_unasked_join unknown_last",
        "unknown_last",
        "drop_unasked_join",
    ]


def numbered(name: str, column: str) -> Rule:
    """A reading that shows one column more, once."""

    def apply(statement: Statement, _context: Context) -> str | None:
        if any(item.name == column for item in statement.tree.expressions):
            return None
        statement.tree = statement.tree.select(column)
        return f"shows {column}"

    return Rule(name, 1, RuleKind.READING, apply)


def test_at_most_so_many_readings_the_likeliest_and_each_once(
    worth: Worth, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = ["artist_name", "performer_name", "country", "singer_id"]
    monkeypatch.setattr(driver, "RULES", tuple(numbered(f"show_{each}", each) for each in columns))
    worth(show_artist_name=-1.0, show_performer_name=-2.0, show_country=2.0, show_singer_id=1.0)
    found = made("SELECT 1 FROM singer", asked(""))
    assert len(found) == len({sql for _, sql in found}) == READINGS
    assert found[0] == ("show_country show_singer_id", "SELECT 1, country, singer_id FROM singer")
    assert {rules for rules, _ in found[1:3]} == {
        "show_country",
        "show_artist_name show_country show_singer_id",
    }


def alone(statement: Statement, _context: Context) -> str | None:
    """A reading of statements that show one thing."""
    if len(statement.tree.expressions) > 1:
        return None
    statement.tree = statement.tree.limit(1)
    return "gives one row"


def test_likely_readings_do_not_keep_later_rules_from_the_statement_itself(
    worth: Worth, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = [numbered(f"show_{each}", each) for each in ("artist_name", "performer_name", "country")]
    monkeypatch.setattr(driver, "RULES", (*shown, Rule("one", 1, RuleKind.READING, alone)))
    monkeypatch.setattr(driver, "KEPT", 1)
    worth(show_artist_name=1.0, show_performer_name=1.0, show_country=1.0, one=9.0)
    assert made("SELECT 1 FROM singer", asked("")) == [("one", "SELECT 1 FROM singer LIMIT 1")]


@pytest.mark.usefixtures("worth")
def test_nulls_first_stays_after_another_reading() -> None:
    sql = (
        "SELECT c.title FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id"
        " ORDER BY c.year DESC NULLS FIRST"
    )
    found = made(sql, asked("concerts, the unknown ones at the top"))
    assert [rules for rules, _ in found] == ["drop_unasked_join"]
    assert "NULLS LAST" not in found[0][1]


def test_a_name_that_no_rule_has_is_refused_with_the_nearest() -> None:
    check_names([])
    check_names([rule.name for rule in RULES])
    with pytest.raises(InvalidSettingError) as near:
        check_names(["both", "unknown_first"])
    assert near.value.message == 'invalid value for [generation] rules_off: "unknown_first"'
    assert near.value.hint is not None
    assert "unknown_last" in near.value.hint
    with pytest.raises(InvalidSettingError) as far:
        check_names(["zzz"])
    assert far.value.hint is not None
    assert all(rule.name in far.value.hint for rule in RULES)


def test_the_schema_of_the_pairs_is_what_its_name_says() -> None:
    assert SCHEMAS["music"] is MUSIC
    keys = {
        name: {
            (key.enforced, column.nullable)
            for table in SCHEMAS[name].tables
            for key in table.foreign_keys
            for column in table.columns
            if column.name in key.columns
        }
        for name in ("music", "required", "optional")
    }
    assert keys == {"music": {(False, True)}, "required": {(True, False)}, "optional": {(True, True)}}
