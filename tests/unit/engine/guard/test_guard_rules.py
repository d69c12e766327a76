"""What the guard lets pass where a server has confirmed it, and what it says where it has not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from guard_lists import SHOP

from engine.guard import BUILT_IN, Allowed, Dropped, Reason, Refused, Rules, check

TRIGRAMS = Rules(
    functions=frozenset({("public", "similarity"), ("ext", "twice")}),
    operators=frozenset({("public", "<%")}),
    types=frozenset({("public", "vector")}),
    ambiguous=frozenset({"twice"}),
    dropped=(Dropped("public.crosstab", "it may run a text as SQL or reach elsewhere"),),
)


def refused(sql: str, rules: Rules) -> Refused:
    verdict = check(sql, rules)
    assert isinstance(verdict, Refused), verdict
    return verdict


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT similarity('a', 'b'), public.similarity('a', 'b'), ext.twice(1)",
        "SELECT 'a' <% 'b', 'a' OPERATOR(public.<%) 'b'",
        "SELECT '[1]'::vector, '[1]'::public.vector, CAST('{}' AS vector[])",
    ],
)
def test_confirmed_names_pass_bare_and_qualified(sql: str) -> None:
    assert isinstance(check(sql, TRIGRAMS), Allowed)
    assert isinstance(check(sql), Refused)


@pytest.mark.parametrize(
    "sql", ["SELECT twice(1)", "SELECT evil.similarity('a', 'b')", "SELECT '[1]'::evil.vector"]
)
def test_what_something_else_may_answer_to_does_not_pass(sql: str) -> None:
    refused(sql, TRIGRAMS)


def test_a_refusal_names_the_setting() -> None:
    assert refused("SELECT levenshtein('a', 'b')", TRIGRAMS).hint == (
        'Whoever keeps pgparley.toml may allow a safe one: [guard] functions = ["SCHEMA.levenshtein"].'
    )
    assert '[guard] types = ["public.mood"]' in str(refused("SELECT 'x'::public.mood", BUILT_IN).hint)
    assert "[guard] operators" in str(refused("SELECT 1 @#@ 2", BUILT_IN).hint)
    assert "cannot be allowed: it may run" in str(refused("SELECT crosstab('SELECT 1')", TRIGRAMS).hint)
    assert refused("SELECT pg_catalog.pg_sleep(1)", TRIGRAMS).hint is None


def test_a_bare_name_finds_the_system_first() -> None:
    rules = replace(
        SHOP, relations=SHOP.relations | {("public", "pg_class")}, ambiguous=frozenset({"pg_class"})
    )
    assert refused("TABLE pg_class", rules).reason is Reason.RELATION
    assert isinstance(check("TABLE public.pg_class", rules), Allowed)
    assert isinstance(check("TABLE shop.public.pg_class", rules), Allowed)
    assert refused("TABLE pg_catalog.pg_class", rules).reason is Reason.RELATION
    assert refused("TABLE other.public.pg_class", rules).reason is Reason.RELATION


def test_a_field_passes_where_nothing_answers_to_its_name() -> None:
    assert isinstance(check("SELECT (c.home).town FROM contacts c", SHOP), Allowed)
    assert isinstance(check("SELECT p.town FROM contacts c, unnest(c.previous) AS p", SHOP), Allowed)
    assert refused("SELECT (name).pg_read_file FROM customers", SHOP).reason is Reason.FIELD
    assert refused("SELECT u.lo_get FROM unnest(ARRAY[1]) AS u", SHOP).reason is Reason.FIELD
    assert refused("SELECT (c.home).town FROM contacts c", BUILT_IN).reason is Reason.FIELD


def test_a_version_that_is_new_enough_reads_the_same() -> None:
    for version, sql in (
        (17, "SELECT JSON_VALUE('{}', '$.a')"),
        (16, "SELECT JSON_ARRAY(1), 0x1F, 1_000"),
        (14, "SELECT date_bin('1 day', now(), now()), '{}'::int4multirange, !! 'a'::tsquery"),
        (13, "SELECT extract(year FROM now()), 1.5e3, 007, json_object('{a,b}')"),
        (19, "SELECT JSON_VALUE('{}', '$.a'), uuidv7()"),
    ):
        assert isinstance(check(sql, Rules(version=version)), Allowed), (version, sql)
    assert "works from PostgreSQL 17 on, and the server is 16" in (
        refused("SELECT JSON_VALUE('{}', '$.a')", Rules(version=16)).detail
    )


def test_places_are_counted_in_characters() -> None:
    types = "'x'::mood, CAST(NULL AS \"größe\"[]), mood 'ok'"
    sql = f"; SELECT 'é€😀', {types} FROM \"tür\" a, sales.deals b, ONLY (contacts)"
    rules = replace(SHOP, types=SHOP.types | {("public", "größe")})
    verdict = check(sql, rules)
    assert isinstance(verdict, Allowed)
    body = verdict.analysis.body
    written = [
        (body[each.start :].split()[0].rstrip(",()[]"), each.name[-1]) for each in verdict.analysis.types
    ]
    assert sorted(written) == [('"größe"', "größe"), ("mood", "mood"), ("mood", "mood")]
    tables = [body[relation.start :].split()[0].rstrip(",)") for relation in verdict.analysis.relations]
    assert sorted(tables) == ['"tür"', "contacts", "sales.deals"]


def test_whether_a_statement_gives_the_same_again() -> None:
    for sql, again in (("SELECT random()", False), ("SELECT now()", True), ("SELECT uuidv4() FROM t", False)):
        verdict = check(sql)
        assert isinstance(verdict, Allowed)
        assert verdict.analysis.repeatable is again
