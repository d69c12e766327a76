"""Where the trained models are that come with the program: beside the code, or in the package pgparley-models."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

ENGINE = Path(__file__).parents[1]

_PACKAGE = "pgparley_models"


def shipped(folder: str) -> Path:
    """The folder of a model, named as below `engine`: `models/ranker_base`.

    Where nothing is installed it does not exist.
    """
    return root() / folder


def root() -> Path:
    """What the names of the folders begin at."""
    if (ENGINE / "models" / "router_base" / "weights.npz").is_file():
        return ENGINE
    spec = find_spec(_PACKAGE)
    places = None if spec is None else spec.submodule_search_locations
    return Path(places[0]) if places else ENGINE
