"""What the grammar lets a model write, decided by llguidance itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import llguidance
import pytest
from llguidance import LLMatcher

from engine.link.labels import label_lists
from engine.values.elements import WHOLE_TABLE, ValueList
from engine.write.search.sql_grammar import in_postgresql, sql_grammar
from schema_catalog.types import Column, ColumnKey, Snapshot, Table, TableKind
from tests.support.schemas import MUSIC

ARTIST = ("public", "singer", "artist_name")


@pytest.fixture(scope="module")
def tokenizer() -> llguidance.LLTokenizer:
    """A tokenizer whose tokens are bytes: what it accepts, every tokenizer can write."""
    return llguidance.LLTokenizer("byte")


def accepts(
    tokenizer: llguidance.LLTokenizer,
    sql: str,
    *masked: ColumnKey,
    lists: Sequence[ValueList] = (),
    schema: Snapshot = MUSIC,
) -> bool:
    grammar = LLMatcher.grammar_from_lark(sql_grammar(schema, frozenset(masked), lists))
    matcher = LLMatcher(tokenizer, grammar)
    assert not matcher.is_error(), matcher.get_error()
    tokens = tokenizer.tokenize_str(f"{sql};\n```")
    return (
        matcher.validate_tokens(tokens) == len(tokens)
        and matcher.consume_tokens(tokens)
        and matcher.is_accepting()
    )


ACCEPTED = [
    "SELECT COUNT(*) FROM singer",
    "SELECT * FROM singer",
    "SELECT artist_name FROM singer WHERE country = 'France' ORDER BY artist_name LIMIT 3",
    "SELECT country, COUNT(*) FROM singer GROUP BY country UNION SELECT name, COUNT(*) FROM stadium GROUP BY name",
    "SELECT name FROM stadium WHERE stadium_id IN (SELECT stadium_id FROM concert WHERE year = '2014')",
    "SELECT DISTINCT singer.country FROM singer WHERE singer.artist_name LIKE '%a%'"
    " ORDER BY singer.country DESC LIMIT 3",
    "SELECT stadium.name, COUNT(*) AS concerts FROM concert JOIN stadium ON concert.stadium_id = stadium.stadium_id"
    " GROUP BY stadium.name HAVING COUNT(*) > 2 ORDER BY COUNT(*) DESC",
    "SELECT singer.artist_name FROM singer WHERE singer.singer_id NOT IN (SELECT singer_in_concert.singer_id"
    " FROM singer_in_concert)",
    "SELECT singer.country FROM singer INTERSECT SELECT singer.country FROM singer WHERE singer.singer_id > 3",
    "SELECT s1.artist_name, s2.artist_name FROM singer AS s1 JOIN singer AS s2 ON s1.country = s2.country",
    "SELECT s.country, sic.entry_id FROM singer s JOIN singer_in_concert sic ON s.singer_id = sic.singer_id",
    "SELECT AVG(CAST(stadium.capacity AS int)) FILTER (WHERE stadium.name <> 'x') FROM stadium",
    "SELECT singer.country, RANK() OVER (PARTITION BY singer.country ORDER BY singer.singer_id) FROM singer",
    "SELECT CASE WHEN stadium.capacity = '1' THEN 'a' ELSE 'b' END FROM stadium",
    "WITH cte AS (SELECT singer.country, COUNT(*) AS n FROM singer GROUP BY singer.country)"
    " SELECT MAX(cte.n) FROM cte",
    "SELECT c.title FROM concert c JOIN stadium s ON c.stadium_id = s.stadium_id ORDER BY avg(s.stadium_id) DESC",
    "SELECT max(singer_id), MIN(singer_id) FROM singer WHERE GREATEST(singer_id, 1) = 1",
    "SELECT EXTRACT(YEAR FROM concert.year::date) FROM concert WHERE concert.year BETWEEN '2014' AND '2015'",
    "SELECT COUNT(DISTINCT T2.title) FROM stadium AS T1 INNER JOIN concert AS T2 ON T1.stadium_id = T2.stadium_id",
    "SELECT T1.title FROM concert AS T1 WHERE T1.year > TIMESTAMP '2014-01-01 00:00:00'",
]

ACCEPTED += [
    sql.replace(" FROM ", "\nFROM ").replace(" WHERE ", "\nWHERE ").replace(" ORDER", "\nORDER")
    for sql in ACCEPTED[1:4]
]

REFUSED = [
    "SELECT T1.name FROM concert AS T1 JOIN singer AS T2 ON T1.concert_id = T2.birthday",
    "SELECT TIMESTAMP 'now' FROM singer",
    "SELECT singer.name FROM singer",
    "SELECT name FROM singer",
    "SELECT capacity FROM singer ORDER BY country",
    "SELECT country FROM singer JOIN stadium ON singer.singer_id = stadium.stadium_id",
    "SELECT c.name FROM concert AS c",
    "SELECT x.title FROM concert AS x",
    "SELECT * FROM musician",
    "DELETE FROM singer",
    "SELECT pg_sleep(1)",
    "SELECT COUNT(*) FROM singer; DROP TABLE singer",
    "SELECT artist_name FROM singer WHERE greatest(singer_id, 1) = 1",
    "SELECT counT(*) FROM singer",
]


@pytest.mark.parametrize("sql", ACCEPTED + REFUSED)
def test_what_it_accepts(tokenizer: llguidance.LLTokenizer, sql: str) -> None:
    assert bool(accepts(tokenizer, sql)) is (sql in ACCEPTED)


def test_what_is_masked_can_neither_be_named_nor_be_read_by_a_star(tokenizer: llguidance.LLTokenizer) -> None:
    assert not accepts(tokenizer, "SELECT singer.artist_name FROM singer", ARTIST)
    assert not accepts(tokenizer, "SELECT si.artist_name FROM singer AS si", ARTIST)
    assert not accepts(tokenizer, "SELECT artist_name FROM singer", ARTIST)
    assert accepts(tokenizer, "SELECT singer.performer_name FROM singer", ARTIST)
    assert accepts(tokenizer, "SELECT performer_name FROM singer", ARTIST)
    assert not accepts(tokenizer, "SELECT * FROM singer", ARTIST)
    assert not accepts(tokenizer, "SELECT singer.* FROM singer", ARTIST)
    assert accepts(tokenizer, "SELECT stadium.* FROM stadium", ARTIST)
    table = ("public", "singer", WHOLE_TABLE)
    assert not accepts(tokenizer, "SELECT COUNT(*) FROM singer", table)
    assert accepts(tokenizer, "SELECT COUNT(*) FROM stadium", table)


def test_nothing_left_is_an_error() -> None:
    tables = frozenset((*table.key, WHOLE_TABLE) for table in MUSIC.tables)
    with pytest.raises(ValueError, match="every column is masked"):
        sql_grammar(MUSIC, tables)


LISTED = (
    ValueList(("public", "singer", "country"), ("France", "Fr", "Côte d'Ivoire", 'O"x\\y', "日本")),
    ValueList(("public", "stadium", "name"), ("Oval", "Wembley")),
)

LIST_ACCEPTED = [
    "SELECT artist_name FROM singer WHERE country = 'France'",
    "SELECT artist_name FROM singer WHERE country <> 'Côte d''Ivoire' AND singer.country != 'Fr'",
    "SELECT artist_name FROM singer WHERE country NOT IN ('O\"x\\y', '日本')",
    "SELECT artist_name FROM singer WHERE country IN (SELECT name FROM stadium WHERE name = 'Oval')",
    "SELECT artist_name FROM singer WHERE country ILIKE '%spain%' AND country > 'Spain' AND artist_name = 'Spain'",
    "SELECT artist_name FROM singer WHERE LOWER(country) = 'spain' AND country BETWEEN 'a' AND 'b'",
    "SELECT artist_name FROM singer WHERE (country = 'France' OR country = artist_name) AND country::text = 'x'",
    "SELECT T1.country FROM singer AS T1 JOIN stadium AS T2 ON T1.singer_id = T2.stadium_id"
    " WHERE T1.country = 'France' AND T2.name <> 'Oval'",
    "SELECT CASE WHEN singer.country IS DISTINCT FROM 'Fr' THEN 'z' ELSE 'y' END FROM singer JOIN stadium"
    " ON stadium.name = singer.country",
]

LIST_REFUSED = [
    "SELECT artist_name FROM singer WHERE country = 'Spain'",
    "SELECT artist_name FROM singer WHERE country = 'france'",
    "SELECT artist_name FROM singer WHERE country = 'Frances'",
    "SELECT artist_name FROM singer WHERE country = ''",
    "SELECT artist_name FROM singer WHERE country = 'France' || 'x'",
    "SELECT artist_name FROM singer WHERE country IN ('France', 'Spain')",
    "SELECT artist_name FROM singer WHERE country IS DISTINCT FROM 'Spain'",
    "SELECT artist_name FROM singer WHERE 'Spain' = country",
    "SELECT artist_name FROM singer WHERE country = ('Spain')",
    "SELECT artist_name FROM singer WHERE country = 'Spain'::text",
    "SELECT s.country FROM singer s JOIN stadium t ON s.singer_id = t.stadium_id WHERE s.country = 'Oval'",
    "SELECT COUNT(*) FILTER (WHERE country = 'Spain') FROM singer",
]


@pytest.mark.parametrize("sql", LIST_ACCEPTED + LIST_REFUSED)
def test_beside_a_listed_column_stands_a_value_of_its_list(
    tokenizer: llguidance.LLTokenizer, sql: str
) -> None:
    assert bool(accepts(tokenizer, sql, lists=LISTED)) is (sql in LIST_ACCEPTED)


def test_a_list_of_a_masked_column_names_nothing(tokenizer: llguidance.LLTokenizer) -> None:
    country = LISTED[0].column
    assert not accepts(tokenizer, LIST_ACCEPTED[0], country, lists=LISTED)
    assert "Ivoire" not in sql_grammar(MUSIC, frozenset({country}), LISTED)


@pytest.mark.parametrize("value", ["two\nlines", "```", "nul\0", "\x1b", "\ud800"])
def test_a_list_that_cannot_be_written_holds_nobody(tokenizer: llguidance.LLTokenizer, value: str) -> None:
    lists = (replace(LISTED[0], values=("France", value)),)
    assert accepts(tokenizer, "SELECT artist_name FROM singer WHERE country = 'Spain'", lists=lists)


def test_a_column_of_a_subquery_is_called_by_its_quoted_name(tokenizer: llguidance.LLTokenizer) -> None:
    loan = Table(
        "public", "Loan", TableKind.TABLE, (Column("memberId", "integer"), Column("order", "integer"))
    )
    schema = Snapshot("d", ("public",), (loan,))
    inner = 'SELECT "memberId", COUNT(*) AS n FROM "Loan" GROUP BY "memberId"'
    outer = f'SELECT sub."memberId", sub.n FROM ({inner}) AS sub'
    assert accepts(tokenizer, outer, schema=schema)
    assert accepts(tokenizer, outer.replace('sub."memberId"', 'sub."order"'), schema=schema)
    assert not accepts(tokenizer, outer.replace('sub."memberId"', 'sub."Other"'), schema=schema)
    assert accepts(tokenizer, "SELECT order FROM Loan WHERE order IS NULL ORDER BY Loan.order", schema=schema)
    assert accepts(tokenizer, "SELECT Loan.memberId FROM Loan", schema=schema)
    assert not accepts(tokenizer, "SELECT memberid FROM loan", schema=schema)
    twice = replace(loan, columns=(*loan.columns, Column("MemberId", "integer")))
    assert not accepts(tokenizer, "SELECT memberId FROM Loan", schema=replace(schema, tables=(twice,)))


def test_keywords_that_are_names_get_their_quotes() -> None:
    columns = tuple(Column(name, "date") for name in ("to", "order", "timestamp", "kind"))
    schema = Snapshot("d", ("public",), (Table("public", "Loan", TableKind.TABLE, columns),))
    written = "SELECT to, T1.order, kind::timestamp FROM Loan AS T1"
    written += " WHERE timestamp > 'to' AND \"to\" IS NULL ORDER BY order"
    quoted = written.replace("SELECT to", 'SELECT "to"').replace("T1.order", 'T1."order"')
    quoted = quoted.replace("WHERE timestamp", 'WHERE "timestamp"').replace("BY order", 'BY "order"')
    assert in_postgresql(written, schema) == quoted
    assert in_postgresql(written, MUSIC) == written


def test_a_year_of_a_date_may_be_written_as_a_function(tokenizer: llguidance.LLTokenizer) -> None:
    columns = (Column("paid_on", "date"), Column("kind", "text"))
    schema = Snapshot("d", ("public",), (Table("public", "bill", TableKind.TABLE, columns),))
    written = "SELECT COUNT(*) FROM bill WHERE YEAR(paid_on) = 2024 AND kind = 'YEAR(x)'"
    assert accepts(tokenizer, written, schema=schema)
    assert in_postgresql(written, schema) == written.replace("YEAR(paid_on)", "EXTRACT(YEAR FROM paid_on)")
    assert not accepts(tokenizer, "SELECT COUNT(*) FROM singer WHERE YEAR(singer_id) = 1")


SIZED = replace(
    MUSIC.tables[1],
    columns=(*MUSIC.tables[1].columns, Column("size", "hall_size", labels=("SMALL", "LARGE"))),
)
SIZES = replace(MUSIC, tables=(SIZED,))


@pytest.mark.parametrize(
    ("condition", "fits"),
    {
        "size = 'SMALL'": True,
        "size <> 'LARGE' AND size >= 'SMALL'": True,
        "size BETWEEN 'SMALL' AND 'LARGE'": True,
        "size IN ('SMALL') OR country < 'a'": True,
        "size::text < 'x'": True,
        "size = 'small'": False,
        "size > 'MEDIUM'": False,
        "size BETWEEN 'SMALL' AND 'x'": False,
        "size IN ('SMALL', 'x')": False,
    }.items(),
)
def test_an_enum_is_compared_with_its_labels_alone(
    tokenizer: llguidance.LLTokenizer, condition: str, *, fits: bool
) -> None:
    sql = f"SELECT artist_name FROM singer WHERE {condition}"
    assert accepts(tokenizer, sql, lists=label_lists(SIZES), schema=SIZES) is fits
