"""The embedded model as any service has it: by the plain protocol, without what tells our own server from others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from benchmarks.harness.answers import judged
from benchmarks.harness.command import Options
from benchmarks.harness.questions import SPIDER, Selection, asked
from benchmarks.harness.running import Pass, answered, replaying, told_plan
from benchmarks.harness.scorer import Scorer, Verdicts
from benchmarks.harness.site import site
from benchmarks.harness.systems import PLAIN, Gateway
from engine.core.deadline import Deadline
from engine.core.ports import Completion, LanguageModel, Prompt, Weighed
from engine.core.tools import Tools
from engine.llm.profile import ModelProfile

QUESTIONS = 100
K, CALLS = 3, 3


class PlainModel:
    """`engine.core.ports.LanguageModel` over `model`: no grammar, no log-probabilities, no beginning of an answer."""

    profile = ModelProfile()
    grammars = False
    goes_on = False

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    async def complete(
        self,
        prompt: Prompt,
        *,
        deadline: Deadline,
        max_tokens: int,
        grammar: str | None = None,  # noqa: ARG002 - the protocol's
        temperature: float = 0.0,  # noqa: ARG002
        seed: int = 0,  # noqa: ARG002
        others: int = 0,  # noqa: ARG002
        schema: Mapping[str, object] | None = None,  # noqa: ARG002
    ) -> Completion:
        """What the model says to system and user alone."""
        bare = replace(prompt, prefix="", begun="")
        made = await self._model.complete(bare, deadline=deadline, max_tokens=max_tokens)
        return replace(made, logprob=None, tokens=())

    async def weigh(
        self,
        prompt: Prompt,  # noqa: ARG002
        options: Sequence[str],
        *,
        deadline: Deadline,  # noqa: ARG002
    ) -> Weighed:
        """Nothing is told."""
        return Weighed((None,) * len(options), 0, 0, 0)

    async def likelihood(self, prompt: Prompt, answer: str, *, deadline: Deadline) -> Completion:
        """Never asked of such a model."""
        raise NotImplementedError

    async def read(self, prompt: Prompt, *, deadline: Deadline) -> None:
        """Nothing to keep."""


def over_plain(tools: Tools) -> Tools:
    """The tools with their model by the plain protocol."""
    return replace(tools, model=PlainModel(tools.model))


async def plain_figures(options: Options, console: Console) -> dict[str, float]:
    """First right and in the set, of Spider's open questions with the database given; resumable."""
    system = Gateway(PLAIN, K, CALLS, adapt=over_plain, lacks="grammars, likelihoods", defined=Path(__file__))
    async with site(options.work, options.bench) as place:
        questions = asked(options.bench, SPIDER, Selection(options.n or QUESTIONS, options.seed))
        with replaying(place, options.work) as replay:
            one = Pass.of_system(SPIDER, system, questions, options.work)
            told_plan([one], console)
            await answered([one], place, options.work, console, replay)
        scorer = Scorer(options.bench, place.dsn, options.work / "scoring")
        found = judged([one], PLAIN, Verdicts(scorer)).find(SPIDER.name, PLAIN)
    if found is None:
        raise ValueError("nothing is answered")
    return {"plain_spider_acc1": found.acc1.value, "plain_spider_set": found.set_acc.value}
