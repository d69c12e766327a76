"""What is compared: one engine, and users who may or may not be asked, who reject or only accept, who err."""

from __future__ import annotations

from dataclasses import dataclass, replace

from benchmarks.harness.questions import AMBIQT as AMBIQT_SETS
from benchmarks.harness.questions import DEFOG, SPIDER, QuestionSet
from engine.values.messages import OnDoubt
from engine.values.settings import DialogueSettings

_COSTS = DialogueSettings(on_doubt=OnDoubt.ABSTAIN)

MOST_ANSWERS = 4
"""Answers that a user gives at most, as in Sphinteract §7.2.2."""


@dataclass(frozen=True, slots=True)
class System:
    """A way to talk.

    `asks`: whether the engine may ask back. `rejects`: the user calls statements wrong whose first is. `errs`: how
    often they choose another option than they mean. `answers`: that the user gives, or rejections, at most. `settings`:
    the engine's `[dialogue]`.
    """

    name: str
    asks: bool = True
    rejects: bool = False
    errs: float = 0.0
    answers: int = MOST_ANSWERS
    settings: DialogueSettings = _COSTS


_NEVER_ABSTAINS = DialogueSettings(abstention=DialogueSettings().wrong)

LIST = System("list", asks=False, settings=_NEVER_ABSTAINS)
"""Candidates at once, which the user reads, however doubtful they are."""
DIALOGUE = System("dialogue")
"""Questions back while the engine has any."""
FEEDBACK = System("feedback", asks=False, rejects=True, answers=2, settings=_NEVER_ABSTAINS)
"""Sphinteract's simple feedback (§6.2.1): wrong, try again. Each rejection has statements written anew: after two it is
compared."""

SYSTEMS = (
    LIST,
    DIALOGUE,
    FEEDBACK,
    System("dialogue_no_early_stop", settings=replace(_COSTS, question=0.0)),
    System("dialogue_errs", errs=0.1),
)


@dataclass(frozen=True, slots=True)
class DialogueSet:
    """Questions of the benchmark. `n`: how many by default. `first_reply`: the dialogue ends with the first reply.

    `looked_at`: of the seeded order, that are left out because choices were made with some of them in view.
    """

    questions: QuestionSet
    n: int
    first_reply: bool = False
    looked_at: int = 0

    @property
    def name(self) -> str:
        """In the results."""
        return self.questions.name


AMBIQT = "ambiqt"
"""AmbiQT's three sets together."""
UNANSWERABLE = QuestionSet("idk", "defog/idk.jsonl", dated=True)

SETS = (
    *(DialogueSet(each, 34, looked_at=100) for each in AMBIQT_SETS),
    DialogueSet(SPIDER, 100, looked_at=100),
    DialogueSet(UNANSWERABLE, 75, first_reply=True),
    DialogueSet(DEFOG, 75, first_reply=True),
)
