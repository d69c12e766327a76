"""What is chosen for made questions is chosen on other databases than it is judged on."""

from __future__ import annotations

import numpy as np

from benchmarks.harness.drawing import read_items
from benchmarks.quality.routing.folds import Variant, fold_of
from tests.support.schemas import MUSIC
from training.made_questions import ASKED, EVERYDAY, MADE, NOTHING, Asking, likeliest, with_made


def test_what_was_made_of_a_schema_stands_in_its_snapshot() -> None:
    row = {
        "tables": ["singer"],
        "questions": ["who sings"],
        "words": {"singer": ["vocalist"], "singer.country": ["home"]},
    }
    told = with_made(MUSIC, [row])
    (singer,) = (table for table in told.tables if table.name == "singer")
    assert singer.proposed_synonyms == ("vocalist",)
    assert [each.proposed_synonyms for each in singer.columns if each.name == "country"] == [("home",)]
    assert [(each.question, each.tables) for each in told.made_questions] == [
        ("who sings", (("public", "singer"),))
    ]


def test_weights_are_chosen_on_the_other_folds() -> None:
    """Made questions are right about the databases of one fold and wrong about all others."""
    owners = [f"db{n}" for n in range(60)]
    fold = fold_of(owners[0])
    right = np.array([fold_of(name) == fold for name in owners])
    asking = Asking(
        owners,
        {NOTHING: np.zeros((60, 2))},
        np.stack([right, ~right], axis=1).astype(np.float64),
        np.zeros(60, dtype=np.intp),
    )
    kinds = dict.fromkeys(Variant, asking)
    choices = [(NOTHING, pair) for pair in ASKED]
    assert likeliest(kinds, choices, fold) == (NOTHING, NOTHING)
    other = next(fold_of(name) for name in owners if fold_of(name) != fold)
    mine = np.array([fold_of(name) in {fold, other} for name in owners])
    held = [name for name in owners if fold_of(name) in {fold, other}]
    alone = Asking(held, {NOTHING: np.zeros((len(held), 2))}, asking.made[mine], asking.right[mine])
    assert likeliest(dict.fromkeys(Variant, alone), choices, other)[1][0] == max(pair[0] for pair in ASKED)


def test_what_was_recorded_is_of_training_databases_and_everyday_questions_are_about_some_of_them() -> None:
    made, everyday = ({row["db"] for row in read_items(file)} for file in (MADE, EVERYDAY))
    assert len(made) == 40
    assert everyday < made
    assert len(read_items(EVERYDAY)) == 60
