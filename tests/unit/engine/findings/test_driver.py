"""What the driver makes of rules: which run, in which order, how many readings, and what one that fails costs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from structlog.testing import capture_logs

from engine.findings import driver
from engine.findings.driver import READINGS, Rewritten, check_names, in_turn, readings
from engine.findings.lint import Context, Lint
from engine.findings.rules import LINTS
from engine.question.question import Question
from engine.statement.read import Draft, statement_of
from engine.values.candidate import On, RuleKind
from engine.values.errors import InvalidSettingError
from tests.support.golden_rules import SCHEMAS
from tests.support.schemas import MUSIC

PLAYED = (
    "FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id"
    " JOIN concert AS c ON e.concert_id = c.concert_id"
)


def asked(question: str, name: str = "music") -> Context:
    snapshot = SCHEMAS[name]
    return Context(snapshot, Question(question))


def made(sql: str, context: Context, off: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """(the rules that made it, the reading), likeliest first."""
    return [
        (" ".join(change.rule for change in each.changes), each.sql)
        for each in readings(Rewritten(sql), context, off)
    ]


def test_a_chain_of_repairs_is_one_statement_that_says_what_each_did() -> None:
    sql = "SELECT title FROM concert ORDER BY capacity LIMIT 1"
    repaired = in_turn(RuleKind.REPAIR, Rewritten(sql), asked(""))
    assert repaired.sql == (
        "SELECT concert.title FROM concert JOIN stadium ON concert.stadium_id = stadium.stadium_id"
        " ORDER BY stadium.capacity LIMIT 1"
    )
    assert [change.rule for change in repaired.changes] == ["requalify", "join_missing_tables"]
    assert [change.before for change in repaired.changes] == [sql, repaired.changes[0].after]
    assert repaired.changes[-1].after == repaired.sql


def test_a_rule_that_is_off_does_not_run() -> None:
    total = f"SELECT e.entry_id {PLAYED}"
    required = asked("", "required")
    assert in_turn(RuleKind.NORMALISE, Rewritten(total), required).changes != ()
    assert in_turn(RuleKind.NORMALISE, Rewritten(total), required, ("drop_total_join",)) == Rewritten(total)
    sql = "SELECT title FROM concert ORDER BY capacity LIMIT 1"
    assert in_turn(RuleKind.REPAIR, Rewritten(sql), asked(""), ("requalify",)) == Rewritten(sql)
    question = asked("all stadiums by capacity")
    limited = "SELECT name FROM stadium ORDER BY capacity DESC LIMIT 1"
    assert [rules for rules, _ in made(limited, question)] == ["drop_unasked_limit"]
    assert made(limited, question, ("drop_unasked_limit",)) == []


def broken(statement: Draft, _context: Context) -> str | None:
    statement.tree.set("expressions", [])
    raise LookupError("no such thing")


def says_wrong(_statement: Draft, _context: Context) -> Iterator[str]:
    yield "says that"
    raise LookupError("no such thing")


@pytest.mark.parametrize("kind", list(RuleKind))
def test_a_rule_that_fails_is_skipped_and_the_others_run(
    kind: RuleKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = Lint("failing", 1, broken, says_wrong, On.SERVER, kind)
    monkeypatch.setattr(driver, "LINTS", (failing, *LINTS))
    sql = f"SELECT e.entry_id, e.concert_id {PLAYED} ORDER BY e.concert_id DESC"
    with capture_logs() as logs:
        normal = in_turn(RuleKind.NORMALISE, Rewritten(sql), asked("", "required"))
        repaired = in_turn(
            RuleKind.REPAIR, Rewritten("SELECT title FROM concert ORDER BY capacity"), asked("")
        )
        others = made(sql, asked("entries"))
        in_turn(RuleKind.CORRECTION, Rewritten(sql), asked(""))
        told = driver.said(statement_of("SELECT age, age FROM singer", MUSIC), asked(""), set(On))
        once = in_turn(RuleKind.REPETITION, Rewritten("SELECT country FROM singer"), asked(""))
    assert [change.rule for change in once.changes] == ["rows_once"]
    assert [each.says for each in told] == ["shows age twice"]
    assert [change.rule for change in normal.changes] == ["drop_total_join"]
    assert [change.rule for change in repaired.changes] == ["requalify", "join_missing_tables"]
    assert any("drop_unasked_join" in rules for rules, _ in others)
    assert {(each["event"], each["rule"], each["error"]) for each in logs} == {
        ("rule_failed", "failing", "LookupError")
    }


def test_readings_are_of_the_statement_and_of_its_readings() -> None:
    sql = "SELECT c.title FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id ORDER BY c.year LIMIT 2"
    found = made(sql, asked("concerts, ordered by year"))
    assert {rules for rules, _ in found} == {
        "drop_unasked_limit drop_unasked_join",
        "drop_unasked_limit",
        "drop_unasked_join",
    }
    assert found[0] == (
        "drop_unasked_limit drop_unasked_join",
        "SELECT c.title FROM concert AS c ORDER BY c.year",
    )


def numbered(name: str, column: str) -> Lint:
    """A reading that shows one column more, once."""

    def apply(statement: Draft, _context: Context) -> str | None:
        if any(item.name == column for item in statement.tree.expressions):
            return None
        statement.tree = statement.tree.select(column)
        return f"shows {column}"

    return Lint(name, 1, apply, kind=RuleKind.READING)


def test_at_most_so_many_readings_the_likeliest_and_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = ["artist_name", "performer_name", "country", "singer_id"]
    monkeypatch.setattr(driver, "LINTS", tuple(numbered(f"show_{each}", each) for each in columns))
    found = made("SELECT 1 FROM singer", asked(""))
    assert len(found) == len({sql for _, sql in found}) == READINGS
    assert found[0][0] == " ".join(f"show_{each}" for each in columns)


def test_a_name_that_no_rule_has_is_refused_with_the_nearest() -> None:
    check_names([])
    check_names([rule.name for rule in LINTS])
    with pytest.raises(InvalidSettingError) as near:
        check_names(["each_once", "each_time"])
    assert near.value.message == 'invalid value for [generation] rules_off: "each_time"'
    assert near.value.hint is not None
    assert "each_once" in near.value.hint
    with pytest.raises(InvalidSettingError) as far:
        check_names(["zzz"])
    assert far.value.hint is not None
    assert all(rule.name in far.value.hint for rule in LINTS)
