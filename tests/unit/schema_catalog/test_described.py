"""What a DBA says, in a snapshot and in everything that questions meet of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from engine.link.element_text import linked
from engine.link.link import with_terms
from engine.link.mentions import mentioned_tables, named_terms, terms_used
from engine.link.nodes import FEATURES, schema_input
from engine.link.unknown import schema_words
from engine.question.question import Question
from engine.route.router import HybridRouter
from engine.statement.problems import unknown_column, whole_row
from engine.statement.resolution import resolve
from engine.values.elements import WHOLE_TABLE, SchemaLinks
from engine.write.known_text import term_text
from engine.write.schema_text import schema_text
from schema_catalog.definitions import Join
from schema_catalog.foreign_keys import foreign_key_graph
from schema_catalog.knowledge import Knowledge, Said, described
from schema_catalog.types import Column, Snapshot, Table, TableKind, Term
from tests.support.schemas import MUSIC
from tests.support.scripted import WordEncoder

CONCERT, SINGER = ("public", "concert"), ("public", "singer")
ENCODER = cast("Any", WordEncoder())


def said(
    *element: str, description: str | None = None, synonyms: tuple[str, ...] = (), hidden: bool = False
) -> Knowledge:
    return Knowledge(element, description, synonyms, hidden)


def told(*known: Knowledge) -> Snapshot:
    found = described(MUSIC, Said(known))
    assert found is not None
    return found


HIDDEN = told(said(*SINGER, "country", hidden=True))
SPOKEN = told(
    said(synonyms=("backline",)),
    said(*SINGER, synonyms=("vocalist",)),
    said(*SINGER, "country", synonyms=("nationality", 'home "land"'), description="where they were born"),
)


def test_a_schema_of_which_nothing_is_said_keeps_its_fingerprint() -> None:
    """Stored calibration points and trained routers know it by this one."""
    assert MUSIC.fingerprint == "fb6a8d1cb98a41c79f22bb0019abd8351552bc4607d3d1b687e4b3698914665e"
    others = [replace(MUSIC, said=("x",)), replace(MUSIC, said=("x", "y")), HIDDEN, SPOKEN]
    texts = ('x","synonyms":[]', "x")
    for text in texts:
        column = Column("id", "text", description=text)
        others.append(replace(MUSIC, tables=(replace(MUSIC.tables[0], columns=(column,)),)))
    assert len({each.fingerprint for each in (MUSIC, *others)}) == 1 + len(others)


def test_descriptions_replace_comments_and_what_is_unknown_does_not_count() -> None:
    country = SPOKEN.tables[1].columns[3]
    assert (country.description, country.synonyms) == ("where they were born", ("nationality", 'home "land"'))
    assert (
        told(said("public", "gone", description="x"), said(*SINGER, "gone", hidden=True)).tables
        == MUSIC.tables
    )


def test_what_is_hidden_is_gone_with_the_keys_that_name_it() -> None:
    assert HIDDEN.tables[1].partial
    assert [column.name for column in HIDDEN.tables[1].columns] == [
        "singer_id",
        "artist_name",
        "performer_name",
    ]
    less = told(said(*CONCERT, hidden=True), said("public", "stadium", "stadium_id", hidden=True))
    assert [(table.name, table.partial) for table in less.tables] == [
        ("singer", False),
        ("singer_in_concert", False),
        ("stadium", True),
    ]
    assert [key.ref_table for key in less.tables[1].foreign_keys] == ["singer"]
    assert less.tables[2].primary_key == ()
    assert described(MUSIC, Said((said(hidden=True),))) is None
    assert described(MUSIC, Said(tuple(said(*table.key, hidden=True) for table in MUSIC.tables))) is None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM singer",
        "SELECT s.* FROM concert, singer AS s",
        "SELECT s FROM singer AS s",
        "SELECT count(singer) FROM singer",
        "SELECT j.* FROM (concert JOIN singer ON true) AS j",
        "SELECT * FROM concert JOIN singer ON true",
        "SELECT * FROM singer JOIN singer_in_concert USING (singer_id)",
        "SELECT x.d FROM singer AS x(a, b, c, d)",
        "SELECT year FROM concert NATURAL JOIN singer",
        "SELECT j.a FROM (singer JOIN concert ON true) AS j(a, b)",
        "WITH s AS (SELECT * FROM singer) SELECT artist_name FROM s",
    ],
)
def test_nothing_reads_all_columns_of_a_table_that_has_hidden_ones(sql: str) -> None:
    assert resolve(sql, MUSIC).problems == ()
    assert whole_row("singer") in resolve(sql, HIDDEN).problems


def test_a_bare_name_reaches_past_no_hidden_column_and_synonyms_stand_in_the_prompt_as_data() -> None:
    """The server would take singer.country, whose values are not for questions."""
    other = told(said("public", "stadium", "name", hidden=True))
    sql = "SELECT 1 FROM (SELECT title AS name FROM concert) AS c WHERE EXISTS (SELECT {} FROM stadium)"
    (problem,) = resolve(sql.format("name"), other).problems
    assert problem == unknown_column(("name",), ("c.name",), ())
    assert resolve(sql.format("c.name"), other).problems == ()
    line = schema_text(SPOKEN, ())[0].splitlines()[1]
    assert line == (
        "singer(singer_id int PK, artist_name text, performer_name text, "
        'country text "nationality, home \'land\'; where they were born") "vocalist"'
    )


def test_synonyms_link_phrases_and_words() -> None:
    key = (*SINGER, "country")
    (before,) = linked(["singer nationality"], MUSIC, ENCODER)
    (after,) = linked(["singer nationality"], SPOKEN, ENCODER)
    assert before.similarities[key] < 0.9 < after.similarities[key]
    (whole,) = linked(["vocalist"], SPOKEN, ENCODER)
    assert whole.similarities[*SINGER, WHOLE_TABLE] > 0.9
    assert before.similarities.keys() == after.similarities.keys()
    assert {"nationality", "vocalist", "born", "backline"} <= schema_words(SPOKEN) - schema_words(MUSIC)


def test_the_linker_takes_a_synonym_for_the_name() -> None:
    place = FEATURES.index("all words asked")
    for snapshot, known in ((MUSIC, 0), (SPOKEN, 1)):
        found = schema_input(Question("nationality of each vocalist"), snapshot)
        names = [node[1:] for node in found.nodes]
        assert found.features[names.index(("singer", "country"))][place] == known
        assert found.asked[[0, 3]].tolist() == [[0, known], [known, 0]]
        assert found.texts == schema_input(Question("?"), MUSIC).texts


def test_a_declared_join_is_a_reference_where_no_foreign_key_is() -> None:
    album = Table("public", "album", TableKind.TABLE, (Column("singer", "integer"), Column("id", "integer")))
    bare = replace(MUSIC, tables=(album, *(replace(table, foreign_keys=()) for table in MUSIC.tables)))
    join = Join((*album.key, "singer"), (*SINGER, "singer_id"))
    gone = Join((*album.key, "singer"), (*SINGER, "nothing"))
    found = described(bare, Said(joins=(join, gone)))
    assert found is not None
    assert foreign_key_graph(found).column_pairs(album.key, SINGER) == [("singer", "singer_id")]
    assert "singer int -> singer.singer_id" in schema_text(found, ())[0]
    hidden = described(bare, Said((said(*SINGER, "singer_id", hidden=True),), (join,)))
    assert hidden is not None
    assert foreign_key_graph(hidden).edges(album.key) == ()
    keyed = described(found, Said(joins=(join,)))
    assert keyed == found


HOME = Term("home star", "singer.country = 'FR'", "of   this\ncountry", (SINGER, (*SINGER, "country")))
LARGE = Term(
    "large venue", "stadium.capacity > 1", reads=(("public", "stadium"), ("public", "stadium", "capacity"))
)


def termed(*known: Knowledge, terms: tuple[Term, ...] = (HOME, LARGE)) -> Snapshot:
    found = described(MUSIC, Said(known, terms=terms))
    assert found is not None
    return found


def test_a_term_is_there_for_those_alone_who_may_read_all_of_it() -> None:
    whole = termed()
    assert whole.terms == (HOME, LARGE)
    assert whole.fingerprint not in {MUSIC.fingerprint, termed(terms=(HOME,)).fingerprint}
    assert termed(said(*SINGER, "country", hidden=True)).terms == (LARGE,)
    assert termed(said(*SINGER, hidden=True)).terms == (LARGE,)
    assert termed(terms=(replace(HOME, reads=(("public", "gone"),)),)).terms == ()
    readable = frozenset((*table.key, column.name) for table, column in MUSIC.columns())
    assert whole.restricted_to(readable - {(*SINGER, "country")}).terms == (LARGE,)
    counting = replace(HOME, reads=(SINGER,))
    theirs = frozenset(each for each in readable if each[:2] != SINGER)
    assert termed(terms=(counting,)).restricted_to(theirs).terms == ()


def test_a_question_names_a_term_in_singular_or_plural_and_the_longest_one() -> None:
    star = replace(LARGE, name="star")
    schema = termed(terms=(HOME, LARGE, star))
    for question, names in (
        ("How many home stars are there?", ["home star"]),
        ("Home-star and a star", ["home star", "star"]),
        ("stars at home", ["star"]),
        ("large venues", ["large venue"]),
        ("venues", []),
    ):
        assert [each.name for each in named_terms(Question(question), schema)] == names
    assert [table.name for table in mentioned_tables(Question("each home star"), schema)] == ["singer"]
    assert terms_used([HOME, LARGE], {SINGER}, {(*SINGER, "country")}) == (HOME,)


def test_a_term_stands_in_the_prompt_as_data_where_its_columns_do() -> None:
    text = term_text([HOME, LARGE], MUSIC)
    assert text.splitlines()[1:] == [
        """"home star": singer.country = 'FR'  ("of this country")""",
        '"large venue": stadium.capacity > 1',
        "",
    ]
    assert "home star" not in term_text([HOME, LARGE], HIDDEN)
    assert "home star" not in term_text([HOME, LARGE], MUSIC, {(*SINGER, WHOLE_TABLE)})
    assert term_text([HOME], MUSIC, {(*SINGER, "country")}) == ""


def test_a_term_finds_the_database_and_links_its_columns() -> None:
    router = HybridRouter(ENCODER)
    shop = replace(MUSIC, database="shop", tables=MUSIC.tables[3:])
    readable = frozenset((*table.key, column.name) for table, column in MUSIC.columns())
    for snapshot, found in ((MUSIC, False), (termed(), True)):
        best = router.rank(Question("list each home star"), [(shop, readable), (snapshot, readable)])[0]
        assert (best.position == 1 and "home" in best.words) is found
    (phrase,) = linked(["home star"], termed(), ENCODER)
    assert phrase.similarities[*SINGER, "country"] > 0.9
    assert {"home", "star"} <= schema_words(termed()) - schema_words(MUSIC)
    links = SchemaLinks({(*SINGER, "country"): 0.0}, frozenset(), (), 0.5)
    sure = with_terms(links, (HOME,))
    assert sure is not None
    assert (
        sure.linked
        == {(*SINGER, "country"), (*SINGER, WHOLE_TABLE)}
        == {k for k, p in sure.probabilities.items() if p}
    )
    assert with_terms(links, ()) is links


def test_what_a_comment_begins_with_is_another_name_of_its_element() -> None:
    key = (*SINGER, "country")
    comment = "where they were born; never the passport: K = Kenya, F = France"
    (plain,) = linked(["where they were born"], MUSIC, ENCODER)
    (born,) = linked(["where they were born"], told(said(*SINGER, "country", description=comment)), ENCODER)
    (passport,) = linked(["passport"], told(said(*SINGER, "country", description=comment)), ENCODER)
    assert plain.similarities[key] < 0.1
    assert born.similarities[key] > 0.5
    assert passport.similarities[key] < 0.1
