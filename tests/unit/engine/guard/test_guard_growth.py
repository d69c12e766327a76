"""How far the constants of a statement are followed."""

from __future__ import annotations

import math

import pytest

from engine.guard import Allowed, Reason, Refused, Rules, check
from engine.guard.analyse import analyse
from engine.guard.bounds import Bound, exactly, literal, steps
from engine.guard.measures import Quantity
from engine.guard.policy import LIMITS


def largest(sql: str, kind: Quantity) -> float:
    return max((growth.amount for growth in analyse(sql).growths if growth.quantity is kind), default=0.0)


@pytest.mark.parametrize(
    ("sql", "characters"),
    [
        ("SELECT repeat('ab', 30)", 60),
        ("SELECT repeat(repeat('a', 10), 7 * 2 - 4)", 100),
        ("SELECT lpad('', least(id, 50)) FROM t", 50),
        ("SELECT repeat('x', (SELECT 5 + 5))", 10),
        ("SELECT replace(lpad('', 100, 'a'), 'a', lpad('', 9, 'b'))", 1000),
        ("SELECT format('%5s|%-70s', 1, 2)", 84),
        ("SELECT 'a'::char(77)", 77),
        ("SELECT array_fill(0, ARRAY[3, 4])", 12),
        ("SELECT repeat('x', '1e2'::int)", 100),
        ("SELECT repeat('x', CASE WHEN a THEN 5 ELSE 8 END) FROM t", 8),
        ("SELECT repeat('x', n) FROM t", math.inf),
        ("SELECT repeat('x', greatest(n, 5)) FROM t", math.inf),
        ("SELECT format(name) FROM t", math.inf),
    ],
)
def test_the_longest_text(sql: str, characters: float) -> None:
    assert largest(sql, Quantity.CHARACTERS) == characters


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT * FROM t", 1),
        ("SELECT * FROM generate_series(1, 10)", 10),
        ("SELECT * FROM generate_series(10, 1, -3)", 4),
        ("SELECT * FROM generate_series(10, 1)", 1),
        ("SELECT * FROM generate_series(1, 10) a, t, generate_series(1, 5) b", 50),
        ("SELECT generate_series(1, 3) FROM generate_series(1, 10)", 30),
        ("WITH s AS (SELECT generate_series(1, 10)) SELECT 1 FROM s a JOIN s b ON true", 100),
        ("SELECT generate_series(1, 10) UNION ALL SELECT generate_series(1, 7)", 17),
        ("SELECT (SELECT count(*) FROM generate_series(1, a)) FROM generate_series(1, 6) a", 6),
        ("SELECT * FROM generate_series(date '2024-01-01', '2024-01-31', '1 day')", 31),
        ("SELECT * FROM generate_series(timestamp '2024-01-01', '2024-01-02', interval '1 hour')", 25),
        ("SELECT * FROM generate_series(now() - interval '1 week', now(), '12:00:00')", 15),
        ("SELECT * FROM generate_series(1, (SELECT max(id) FROM t))", 1),
        ("VALUES (1), (2), (3)", 3),
    ],
)
def test_the_most_rows(sql: str, rows: float) -> None:
    assert largest(sql, Quantity.ROWS) == rows


def test_a_text_is_followed_through_queries() -> None:
    chained = "WITH a AS (SELECT repeat('x', 300) s), b AS (SELECT repeat(s, 300) s FROM a) SELECT repeat(s, {}) FROM b"
    assert isinstance(check(chained.format(1)), Allowed)
    verdict = check(chained.format(300))
    assert isinstance(verdict, Refused)
    assert verdict.reason is Reason.COST
    assert "2.7e+07 characters" in verdict.detail


def test_the_limits_are_exact_and_a_refusal_without_bound_says_how_to_set_one() -> None:
    limit = LIMITS[Quantity.CHARACTERS]
    assert isinstance(check(f"SELECT repeat('x', {limit})"), Allowed)
    assert isinstance(check(f"SELECT repeat('x', {limit + 1})"), Refused)
    rows = LIMITS[Quantity.ROWS]
    assert isinstance(check(f"SELECT count(*) FROM generate_series(1, {rows})"), Allowed)
    assert isinstance(check(f"SELECT count(*) FROM generate_series(0, {rows})"), Refused)
    verdict = check("SELECT repeat('x', n) FROM t")
    assert isinstance(verdict, Refused)
    assert verdict.hint == "Bound it: least(…, 100)."
    assert isinstance(check("SELECT repeat('x', least(n, 100)) FROM t"), Allowed)


@pytest.mark.parametrize(
    ("term", "grows"),
    [
        ("s || 'x' || t.name, n + 1 FROM r, t", False),
        ("s || r.s, n + 1 FROM r", True),
        ("concat(q.s, q.s), 1 FROM r q", True),
        ("s || n::text, n + 1 FROM r", False),
        ("replace(s, 'x', ''), n FROM r", False),
        ("replace(s, 'x', 'yy'), n FROM r", True),
        ("s, a.n + b.n FROM r a, r b", False),
    ],
)
def test_a_recursive_query_may_append_but_not_double(term: str, grows: bool) -> None:  # noqa: FBT001
    sql = f"WITH RECURSIVE r (s, n) AS (SELECT 'x', 1 UNION ALL SELECT {term}) SELECT * FROM r"
    assert isinstance(check(sql), Refused) is grows


def test_literals_and_steps_of_a_series() -> None:
    assert literal("12") == exactly(12)
    assert literal("1 day 2 hours") == exactly(93_600, time=True)
    assert literal("-01:30") == exactly(-5_400, time=True)
    assert literal("1970-01-02") == exactly(86_400, time=True)
    assert literal("infinity").low == math.inf
    assert literal("3 apples") == Bound()
    assert steps(exactly(1), exactly(9), exactly(2)) == 5
    assert steps(exactly(1), Bound(), exactly(2)) == math.inf
    assert steps(exactly(1), exactly(9), Bound(-1, 1)) == math.inf
    assert steps(Bound(0, 5), exactly(10), exactly(1)) == 11


@pytest.mark.parametrize(
    ("sql", "steps"),
    [
        ("SELECT btrim(name, 'x') FROM t", 32),
        ("SELECT strpos(repeat('a', 1000), repeat('b', 20))", 20_000),
        ("SELECT translate(repeat('a', 300), 'ab', repeat('c', 10))", 3_000),
        ("SELECT 'abc' LIKE '%b%', 'abc' ~ 'b'", 12),
        ("SELECT normalize(repeat('a', 100))", 10_000),
        ("SELECT log(1 + 1e-1000, 2.0)", 1007**2),
        (
            "SELECT log(a, 2.0) FROM t WHERE hash = 'c3fcd3d76192e4007dfb496cca67e13b9e48213' AND day = '2024-01-01'",
            0,
        ),
        ("SELECT log(2.0, amount), log(amount) FROM t", 0),
        ("SELECT a - b, a / b, a || b, a = b, concat(a, b), round(a, 2), a -> 'b' FROM t", 0),
        ("SELECT j - ARRAY['a'] FROM (SELECT repeat('x', 100)::jsonb AS j) AS q", 100),
    ],
)
def test_the_steps_of_a_statement(sql: str, steps: float) -> None:
    assert largest(sql, Quantity.PAIRS) == steps


DAYS = "generate_series(date '2019-01-01', '2024-12-31', '1 day') AS d"


@pytest.mark.parametrize(
    "sql",
    [
        "WITH w AS (SELECT d, array_agg(o.id) AS ids, sum(o.net) AS s, count(*) AS n"
        f" FROM {DAYS} LEFT JOIN o ON o.day = d GROUP BY d)"
        " SELECT d, s / n, s::numeric - n, round(coalesce(s, 0) / nullif(n, 0), 2) FROM w"
        " WHERE ids @> ARRAY[7] AND d::text LIKE '2024-%'",
        "SELECT jsonb_path_query(doc, '$.items[*] ? (@.price > 10 && @.name like_regex \"^a\")') FROM t",
        "SELECT jsonb_path_query_array(doc, '$.**.name'), doc @? '$.**.name', jsonb_pretty(doc) FROM t",
        "SELECT to_tsvector('english', body) @@ websearch_to_tsquery('english', 'a ** b') FROM t",
        f"SELECT to_tsvector('english', '{'word ' * 3000}') @@ to_tsquery('english', q) FROM t",
        f"SELECT name FROM t WHERE name = ANY ('{{{','.join(map(str, range(3000)))}}}')",
    ],
)
def test_what_is_honest_and_long_passes(sql: str) -> None:
    assert isinstance(check(sql), Allowed), check(sql)


def test_what_a_dba_allows_is_linear() -> None:
    vector = f"[{','.join(['0.123456'] * 768)}]"
    rules = Rules(
        operators=frozenset({("public", "<=>"), ("public", "<->")}), types=frozenset({("public", "vector")})
    )
    sql = f"WITH q AS (SELECT '{vector}'::vector AS v) SELECT id FROM t, q ORDER BY e <=> v, e <-> v LIMIT 9"
    assert isinstance(check(sql, rules), Allowed)
