"""What the search over masks and conditions asks a model, and what it makes of the answers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from engine.values.elements import WHOLE_TABLE, Relation, SchemaLinks, ValueLink
from engine.values.errors import CancelledError
from engine.values.model_profile import EMBEDDED, ModelProfile
from engine.values.ports import Completion, Prompt, Token
from engine.values.settings import GenerationSettings
from engine.values.state import State
from engine.write.search.generator import FORKS
from engine.write.write import write
from schema_catalog.types import ColumnKey
from tests.support.asking import asked, route, tools
from tests.support.generating import WITH_GRAMMARS, Model, generated
from tests.support.schemas import MUSIC

SORTED, GROUPED = "sort (ORDER BY)", "group (GROUP BY)"


def test_the_likeliest_conditions_are_told_with_their_hardness() -> None:
    model = Model([("", "SELECT COUNT(*) FROM concert")])
    generated(model, question="how many are there?")
    told = [
        [words for words in ("is easy", "is medium", SORTED, GROUPED, "WHERE") if words in prompt]
        for prompt in model.prompts
    ]
    assert told[0] == [], "the question alone comes first"
    assert [words for words in told if words] == [["is easy", SORTED], ["is medium", SORTED]]
    before = {prompt.partition("-- The statement is")[0] for prompt in model.prompts}
    assert before == {model.prompts[0]}, "what comes before is the same, and computed once"


def test_a_near_name_is_exchanged_without_a_call() -> None:
    model = Model([("", "SELECT artist_name FROM singer")])
    state = generated(model, k=2)
    assert [each.sql for each in state.candidates] == [
        "SELECT artist_name FROM singer",
        "SELECT performer_name FROM singer",
    ]
    first, second = state.candidates
    assert second.origin.masked == {("public", "singer", "artist_name")}
    assert second.origin.schema_score < first.origin.schema_score == 1.0
    assert state.usage.calls == len(model.prompts) == 1


def test_a_statement_is_gone_on_with_from_where_another_one_was_near() -> None:
    lines = [
        ("SELECT COUNT", "(*) FROM singer"),
        ("SELECT artist_name COUNT", " FROM concert"),
        ("", "SELECT artist_name FROM singer"),
    ]
    model = Model(lines, profile=EMBEDDED, nearly=(" COUNT", 0.4))
    state = generated(model, k=2)
    assert "SELECT COUNT(*) FROM singer" in {each.sql for each in state.candidates}
    assert state.usage.calls == len(model.prompts) == 1 + FORKS
    assert all(
        each.origin.logprob is not None
        for each in state.candidates
        if not (each.origin.masked or each.changes)
    )
    assert any("begun:" in line.event for line in state.trace)
    for other in (
        Model(lines, nearly=(" COUNT", 0.4)),
        Model(lines, profile=EMBEDDED, nearly=(" COUNT", 0.001)),
    ):
        generated(other, k=2)
        assert not any("SELECT COUNT" in prompt for prompt in other.prompts)
    off = Model(lines, profile=EMBEDDED, nearly=(" COUNT", 0.4))
    generated(off, k=2, settings=GenerationSettings(forks=False))
    assert not any("SELECT COUNT" in prompt for prompt in off.prompts)


def test_where_the_model_was_sure_nothing_more_is_asked_unless_it_was_refused() -> None:
    lines = [("SELECT COUNT", "(*) FROM singer"), ("", "SELECT artist_name FROM singer")]
    sure = Model(lines, profile=EMBEDDED, nearly=(" COUNT", 0.2))
    state = generated(sure, k=3)
    assert len(sure.prompts) == 1
    assert "SELECT performer_name FROM singer" in {each.sql for each in state.candidates}
    lines = [("does not exist", "SELECT artist_name FROM singer"), ("", "SELECT nothing FROM singer")]
    model = Model(lines, profile=EMBEDDED, nearly=(" COUNT", 0.001))
    state = generated(model, k=2)
    assert len(model.prompts) > 1
    assert "SELECT artist_name FROM singer" in {each.sql for each in state.candidates}


class Uneven(Model):
    """Nearly wrote another second word, and with little chance another third one."""

    async def complete(self, prompt: Prompt, grammar: str | None = None, **more: object) -> Completion:
        written = await super().complete(prompt, grammar, **more)
        chances = (0.0, 0.4, 0.1)
        tokens = (
            replace(token, others=((token.text, 0.8), (" COUNT", chance)))
            for token, chance in zip(written.tokens, chances, strict=False)
        )
        return replace(written, tokens=tuple(tokens))


def test_what_had_little_chance_is_written_where_the_answer_was_refused_and_not_beside_one_that_stands() -> (
    None
):
    strong, weak = "SELECT COUNT", "artist_name COUNT"
    lines = [(strong, "(*) FROM singer"), (weak, " FROM singer"), ("", "SELECT artist_name FROM singer")]
    stands = Uneven(lines, profile=EMBEDDED)
    generated(stands, k=2)
    assert [[words in prompt for words in (strong, weak)] for prompt in stands.prompts] == [
        [False, False],
        [True, False],
    ]
    lines = [(strong, "(*) FROM singer"), ("", "SELECT nothing FROM singer")]
    refused = Uneven(lines, profile=EMBEDDED)
    generated(refused, k=2)
    assert sum("nothing COUNT" in prompt for prompt in refused.prompts) == 1


def test_names_are_masked_of_a_model_that_does_not_tell_what_it_nearly_wrote() -> None:
    lines = [("SELECT COUNT", "(*) FROM singer"), ("", "SELECT artist_name FROM singer")]
    off = GenerationSettings(exchanges=False, masks=True)
    silent, telling = (
        generated(
            Model(lines, profile=tells, nearly=(" COUNT", 0.4)),
            settings=off,
            phrases=("artist performer name",),
        )
        for tells in (WITH_GRAMMARS, EMBEDDED)
    )
    assert any("artist_name masked" in line.event for line in silent.trace)
    assert all("nothing masked" in line.event for line in telling.trace if line.stage == "write")


def test_a_condition_finds_what_was_not_written_without_it() -> None:
    model = Model(
        [(SORTED, "SELECT country FROM singer ORDER BY country"), ("", "SELECT title FROM concert")]
    )
    found = {each.sql: each for each in generated(model).candidates}
    assert "SELECT country FROM singer ORDER BY country" in found
    assert all(
        not each.origin.masked for each in found.values() if "ORDER" in each.sql or "title" in each.sql
    )


def test_a_statement_without_a_table_or_a_value_that_the_question_names_is_not_written_again() -> None:
    held = ValueLink("Kenya", ("public", "singer", "country"), ("Kenya",), 1.0, Relation.EQUALS)
    model = Model([("", "SELECT title FROM concert")])
    (only,) = generated(model, k=1, question="singers of Kenya", values=(held,)).candidates
    assert only.sql == "SELECT title FROM concert"
    assert len(model.prompts) == 1


def test_another_column_that_holds_the_named_value_is_exchanged_first() -> None:
    """`country` is not like `artist_name`, and the model gave it no probability."""
    held = tuple(
        ValueLink("Adele", ("public", "singer", column), ("Adele",), 1.0, Relation.EQUALS)
        for column in ("artist_name", "country")
    )
    model = Model([("", "SELECT singer_id FROM singer WHERE artist_name = 'Adele'")])
    found = generated(model, k=2, values=held, question="singer id of each Adele").candidates
    assert [each.sql for each in found] == [
        "SELECT singer_id FROM singer WHERE artist_name = 'Adele'",
        "SELECT singer_id FROM singer WHERE country = 'Adele'",
    ]


def test_what_the_model_did_not_write_has_no_likelihood() -> None:
    held = ValueLink("Adele", ("public", "singer", "artist_name"), ("Adele",), 1.0, Relation.EQUALS)
    moved = Model([("", "SELECT artist_name FROM singer WHERE country = 'Adele'")])
    ruled = Model([("", "SELECT name FROM stadium LIMIT 1")])
    found = [
        *generated(Model([("", "SELECT artist_name FROM singer")]), k=2).candidates,
        *generated(moved, k=2, values=(held,)).candidates,
        *generated(ruled, k=1, question="names of stadiums").candidates,
    ]
    assert [(each.sql, each.origin.logprob) for each in found] == [
        ("SELECT artist_name FROM singer", -0.1),
        ("SELECT performer_name FROM singer", None),
        ("SELECT artist_name FROM singer WHERE country = 'Adele'", -0.1),
        ("SELECT artist_name FROM singer WHERE artist_name = 'Adele'", None),
        ("SELECT name FROM stadium LIMIT 1", -0.1),
        ("SELECT name FROM stadium", None),
    ]


def test_what_was_refused_is_what_the_model_is_shown() -> None:
    model = Model([("### Refused", "SELECT 1"), ("", "SELECT nothing FROM stadium ORDER BY capacity DESC")])
    generated(model, k=1, question="greatest of stadiums")
    refused = model.prompts[1].partition("### Refused\n")[2].partition("\n")[0]
    assert refused == "SELECT nothing FROM stadium ORDER BY capacity DESC", "as the model wrote it"


@dataclass
class Bound(Model):
    """Has singers read where its grammar does not name concerts' titles."""

    narrowed: int = 0

    async def complete(self, prompt: Prompt, grammar: str | None = None, **given: object) -> Completion:
        if grammar is None or "title" in grammar:
            return await super().complete(prompt, grammar, **given)
        self.narrowed += 1
        return Completion("SELECT artist_name FROM singer\n```", 1, 0, 9, -0.1, finished=True)


def written(model: Model, linked: ColumnKey, doubtful: float = 0.05, *, links: bool = True) -> State:
    """What `model` writes where `linked` is meant, and everything else is `doubtful`."""
    chances = dict.fromkeys(((*table.key, column.name) for table, column in MUSIC.columns()), doubtful)
    chances |= {(*table.key, WHOLE_TABLE): doubtful for table in MUSIC.tables}
    chances |= {linked: 0.8, (*linked[:2], WHOLE_TABLE): 0.9}
    found = SchemaLinks(chances, frozenset({linked}), (), 1.0)
    settings = GenerationSettings(links=links, masks=False, exchanges=False)
    return generated(model, question="the artists", settings=settings, links=found)


NAME = ("public", "singer", "artist_name")


def test_what_reads_the_doubtful_instead_of_the_linked_is_written_again_without_it() -> None:
    model = Bound([("", "SELECT title FROM concert")])
    state = written(model, NAME)
    assert [each.sql for each in state.candidates] == [
        "SELECT title FROM concert",
        "SELECT artist_name FROM singer",
    ]
    assert model.narrowed == 1
    assert ("public", "concert", WHOLE_TABLE) in state.candidates[1].origin.masked
    assert any(
        line.event.startswith("written with concert.*, ") and " more masked" in line.event
        for line in state.trace
    )


@pytest.mark.parametrize(
    ("sql", "linked", "doubtful", "links"),
    [
        pytest.param(
            "SELECT artist_name, title FROM singer, concert", NAME, 0.05, True, id="all linked is read"
        ),
        pytest.param("SELECT title FROM concert", NAME, 0.2, True, id="nothing is doubtful"),
        pytest.param("SELECT title FROM concert", NAME, 0.05, False, id="the linker has no say"),
    ],
)
def test_otherwise_it_is_not(sql: str, linked: ColumnKey, doubtful: float, *, links: bool) -> None:
    model = Bound([("", sql)])
    written(model, linked, doubtful, links=links)
    assert model.prompts
    assert model.narrowed == 0


@pytest.mark.parametrize("calls", [1, 2])
def test_what_was_found_when_the_time_is_over_is_kept(calls: int) -> None:
    model = Model([("", "SELECT artist_name FROM singer")], in_time=calls)
    state = generated(model, settings=GenerationSettings(exchanges=False, masks=True))
    assert state.late
    assert "SELECT artist_name FROM singer" in {each.sql for each in state.candidates}
    assert all(each.cost is not None for each in state.candidates)
    assert any(line.event == "out of time" for line in state.trace)
    assert state.usage.calls == calls


def test_without_anything_found_the_question_ran_out_of_time() -> None:
    with pytest.raises(CancelledError):
        generated(Model([("", "SELECT artist_name FROM singer")], in_time=0))
    with pytest.raises(CancelledError):
        generated(Model([("", "SELECT nothing FROM nowhere")], in_time=1))


QUESTION = "Which songs do singers sing?"


@dataclass
class Listing:
    """Lists columns without an end where its answer begins anew."""

    profile: ModelProfile = EMBEDDED
    prompts: list[Prompt] = field(default_factory=list)

    async def complete(self, prompt: Prompt, **_: object) -> Completion:
        self.prompts.append(prompt)
        if prompt.begun:
            return Completion(" FROM singer\n```", 1, 0, 9, -0.1, finished=True)
        words = ["SELECT", " country,", " country,"]
        tokens = tuple(Token(word, ((word, 0.5), (" artist_name", 0.4))) for word in words)
        return Completion("".join(words), 1, 0, 200, -0.1, finished=False, tokens=tokens)


def test_it_is_gone_on_with_from_its_beginning() -> None:
    model = Listing()
    settings = GenerationSettings(exchanges=False)
    given = replace(tools("", settings=settings), model=cast("Any", model))
    state = asyncio.run(write(replace(asked(QUESTION, route(QUESTION)), calls=4), given))
    assert "SELECT artist_name" in {prompt.begun for prompt in model.prompts}
    assert "SELECT artist_name FROM singer" in {each.sql for each in state.candidates}
