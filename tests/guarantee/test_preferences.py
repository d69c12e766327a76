"""What is promised of preferences, on made-up votes: drift flips them, doubt keeps both, harm is dropped."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.learn.adapter_training import held_out, train_and_check
from engine.learn.preferences import preferences
from engine.learn.store import Evidence, Verified
from engine.link.phrase_adapter import PhraseAdapter, decode_adapter
from engine.question.question import Question
from engine.values.learned import Cast, Element, Preference, Vote
from engine.values.settings import LearningSettings
from schema_catalog.types import Column, Snapshot, Table, TableKind

GROSS: Element = ("public", "sale", "gross")
NET: Element = ("public", "sale", "net")
SETTINGS = LearningSettings()


def cast(preferred: Element, age: float = 0.0, *, own: bool = True, weight: float = 1.0) -> Cast:
    other = NET if preferred == GROSS else GROSS
    return Cast(Vote("total sales", preferred, other, weight), own, age)


def found(
    casts: list[Cast], settings: LearningSettings = SETTINGS, question: str = "What were the total sales?"
) -> Preference | None:
    """The preference that comes of votes, newest first."""
    made = preferences(
        Question(question),
        ["total sales"],
        casts,
        lambda _one, _two: 0.0,
        settings=settings,
    )
    assert len(made) <= 1
    return made[0] if made else None


def strength(casts: list[Cast], settings: LearningSettings = SETTINGS) -> float:
    """Above zero for gross, below for net."""
    made = found(casts, settings)
    if made is None:
        return 0.0
    return made.strength if made.preferred == GROSS else -made.strength


def test_more_votes_that_agree_make_it_surer_and_never_sure() -> None:
    strengths = [strength([cast(GROSS)] * count) for count in (1, 2, 3, 10, 100)]
    assert strengths[0] == pytest.approx(0.5)
    assert strengths == sorted(strengths)
    assert strengths[-1] < 1.0
    assert [strength([cast(GROSS)] * count) >= SETTINGS.strong for count in (1, 2)] == [False, True]
    assert strength([cast(GROSS, weight=2.0)]) >= SETTINGS.strong


@pytest.mark.parametrize("before", [1, 5, 20, 200])
def test_a_drift_flips_the_preference_within_the_window(before: int) -> None:
    """However often gross was meant, a few votes for net turn it; and each of them brings it nearer."""
    path = [strength([cast(NET)] * turned + [cast(GROSS, age=1.0)] * before) for turned in range(8)]
    assert path[0] > 0 > path[-1]
    assert path == sorted(path, reverse=True)
    turned = next(count for count, value in enumerate(path) if value < 0)
    assert turned <= 4 < SETTINGS.window_votes


def test_votes_outside_of_the_window_do_not_count() -> None:
    old = [cast(GROSS, age=SETTINGS.window_days + 1)] * 50
    assert found(old) is None
    assert strength([cast(NET), *old]) == pytest.approx(-0.5)
    slow = LearningSettings(window_votes=3, half_life_votes=1e9)
    assert strength([cast(NET)] * 3 + [cast(GROSS)] * 100, slow) == pytest.approx(-0.75)


def test_a_vote_counts_half_after_a_half_life() -> None:
    aged = strength([cast(GROSS, age=SETTINGS.half_life_days)])
    assert aged == pytest.approx(0.5 / 1.5)
    assert strength([cast(GROSS, age=90.0)]) < aged


def test_votes_that_conflict_keep_both_alternatives() -> None:
    """Whoever means either now and then gets at most an order: no similarity is raised."""
    rng = np.random.default_rng(7)
    for _ in range(200):
        sides = rng.permutation([GROSS] * 10 + [NET] * 10)
        made = found([cast(tuple(side)) for side in sides.tolist()])
        assert made is None or made.strength < 0.9
    alternating = [cast(GROSS), cast(NET)] * 10
    made = found(alternating)
    assert made is None or not made.strong
    assert found([cast(GROSS), cast(NET)], LearningSettings(half_life_votes=1e9)) is None


def test_an_own_vote_goes_before_any_number_of_shared_ones() -> None:
    shared = [cast(GROSS, own=False)] * 50
    assert strength(shared) >= SETTINGS.strong
    assert strength([*shared, cast(NET, age=30.0)]) < 0


def test_a_question_that_names_the_other_one_means_it() -> None:
    assert found([cast(GROSS)] * 3, question="What were the net total sales?") is None
    assert found([cast(GROSS)] * 3, question="What were the gross and net total sales?") is not None


def test_thirty_choices_say_nothing_of_a_hundred_other_phrases() -> None:
    """Whatever is near to what was preferred: it was not asked for by that phrase."""
    chosen = [Cast(Vote(f"figure {n} sold", GROSS, NET, 1.0), own=True, age=0.0) for n in range(30)]
    for n in range(100):
        made = preferences(
            Question(f"What was amount{n} of the sales?"),
            [f"amount{n}", "sales", "sold"],
            chosen,
            lambda _one, _two: SETTINGS.alike - 0.01,
            settings=SETTINGS,
        )
        assert made == ()
    again = preferences(
        Question("What was figure 3 sold?"), ["figure 3 sold"], chosen, lambda *_: 0.0, settings=SETTINGS
    )
    assert [each.preferred for each in again] == [GROSS]


# -- the adapter


class Space:
    """Texts as points: what is the same text is the same point; phrases and elements are given."""

    def __init__(self, points: dict[str, NDArray[np.float32]]) -> None:
        self.points = points

    def encode(self, texts: list[str]) -> NDArray[np.float32]:
        """Unit vectors."""
        drawn = [
            self.points.get(text, np.random.default_rng(zlib.crc32(text.encode())).normal(size=64))
            for text in texts
        ]
        return np.stack([each / np.linalg.norm(each) for each in drawn]).astype(np.float32)


COLUMNS = 48


def world(seed: int, *, consistent: bool) -> tuple[Space, list[Evidence], dict[str, Snapshot]]:
    """Pairs of columns whose difference always lies along one direction, or along another each time.

    Votes are for the side that lies along it, though phrases are slightly nearer to the other one.
    """
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=64)
    direction /= np.linalg.norm(direction)
    kinds = rng.normal(size=(4, 64))
    kinds /= np.linalg.norm(kinds, axis=1, keepdims=True)
    points: dict[str, NDArray[np.float32]] = {}
    evidence, columns = [], []
    for number in range(COLUMNS):
        # Of few kinds, as what people ask about is.
        base = kinds[number % len(kinds)] + 0.05 * rng.normal(size=64)
        base /= np.linalg.norm(base)
        way = direction if consistent else rng.choice([-1.0, 1.0]) * direction
        points[f"t a{number}"], points[f"t b{number}"] = base + 0.4 * way, base - 0.4 * way
        # Nearer to b by a little; where nothing is consistent, half of the votes are right as they are.
        points[f"phrase {number}"] = base - 0.1 * direction
        columns += [f"a{number}", f"b{number}"]
        evidence.append(
            Evidence("shop", f"phrase {number}", ("public", "t", f"a{number}"), ("public", "t", f"b{number}"))
        )
    table = Table("public", "t", TableKind.TABLE, tuple(Column(name, "text") for name in columns))
    return Space(points), evidence, {"shop": Snapshot("shop", ("public",), (table,))}


def test_an_adapter_learns_what_holds_beyond_the_votes_it_saw() -> None:
    space, evidence, snapshots = world(1, consistent=True)
    outcome = train_and_check("ana", evidence, (), snapshots, space)
    assert outcome is not None
    assert (outcome.verdict, outcome.votes) == ("used", COLUMNS)
    assert outcome.before < 0.2
    assert outcome.after > 0.9
    assert 0 < sum(map(held_out, evidence)) < COLUMNS / 2
    assert train_and_check("ana", evidence, (), snapshots, space) == outcome


@pytest.mark.parametrize("seed", range(5))
def test_an_adapter_that_harms_is_dropped(seed: int) -> None:
    """Every training vote is turned against its phrase, the held-out ones are not: what is learned is wrong there."""
    space, evidence, snapshots = world(seed, consistent=True)
    # As they stand, phrases are nearer to b: votes for b are right without an adapter.
    harming = [
        each if not held_out(each) else Evidence(each.database, each.phrase, each.rejected, each.preferred)
        for each in evidence
    ]
    outcome = train_and_check("ana", harming, (), snapshots, space)
    assert outcome is not None
    assert outcome.after < outcome.before
    assert outcome.weights is None
    assert outcome.verdict.startswith("dropped: ")


def test_an_adapter_by_which_verified_statements_fit_worse_is_dropped() -> None:
    space, evidence, snapshots = world(1, consistent=True)
    for number in range(COLUMNS):
        space.points[f"word{number}"] = space.points[f"phrase {number}"]
    pairs = [
        Verified("shop", f"Show the word{number}.", f"SELECT b{number} FROM t") for number in range(COLUMNS)
    ]
    outcome = train_and_check("ana", evidence, pairs, snapshots, space)
    assert outcome is not None
    assert outcome.after > outcome.before
    assert outcome.weights is None
    assert "verified statements fit their questions worse" in outcome.verdict


def test_weights_survive_the_store_and_a_foreign_size_is_refused() -> None:
    rng = np.random.default_rng(0)
    made = PhraseAdapter(*(rng.normal(size=(64, 8)).astype(np.float32) for _ in range(2)))
    again = decode_adapter(made.encoded(), 64)
    assert again is not None
    assert np.array_equal(again.up, made.up)
    assert np.array_equal(again.down, made.down)
    assert decode_adapter(made.encoded(), 384) is None
    assert decode_adapter(b"abc", 64) is None
    assert decode_adapter(b"", 64) is None
