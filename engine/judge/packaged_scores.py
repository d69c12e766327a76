"""The calibration that comes with the program: scores of right statements to questions on other databases.

It counts where the model and the settings are those that it was made with, and until there are enough points here.
Owns its file, which `training.selection` writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import numpy as np

from engine.judge.fingerprint import counting
from engine.judge.records import Point
from engine.values.conformal import Calibrated
from engine.values.errors import PackagedError
from engine.values.model_settings import GrammarSupport, ModelSettings
from engine.values.settings import EngineSettings

FILE = Path(__file__).with_name("packaged_scores.json")


@dataclass(frozen=True, slots=True)
class Base:
    """The lowest `scores` of each question's right statements, by width. `model`: wrote them."""

    model: str
    made: str
    scores: Mapping[int, tuple[float, ...]]

    def beside(self, own: Calibrated, points: Iterable[Point], width: int) -> Calibrated:
        """`own`, with what counts until there is enough of it; `points`: all that are known here, for `width`."""
        known = [score for point in points if (score := point.right_score) is not None]
        base, here = (np.array(each, dtype=np.float64) for each in (self.scores.get(width, ()), known))
        return replace(own, base=base, known=here)


NOTHING = Base("", "", {})


def read(file: Path = FILE) -> Base:
    """The calibration in `file`; raises `PackagedError`."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Base)
    except (OSError, msgspec.MsgspecError) as problem:
        raise PackagedError(f"{file.name} cannot be read ({problem}): install the program again") from problem


def base_for(settings: EngineSettings) -> Base:
    """What counts with `settings`: nothing where they shape answers otherwise. Raises `PackagedError`."""
    if not settings.selection.base:
        return NOTHING
    found = read()
    by_default = EngineSettings(
        settings.socket,
        settings.store_dsn,
        learned_router=settings.learned_router,
        listening=settings.listening,
        dialogue=settings.dialogue,
        model=ModelSettings(model=found.model, grammar=GrammarSupport.EMBEDDED),
    )
    return found if counting(settings) == counting(by_default) else NOTHING
