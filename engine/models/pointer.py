"""The learned router's network, loaded from an artifact; questions into decodings.

The tuned layers take their places in a copy of the encoder. Light to import: torch comes with the first question.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.models.bert import multiplies_integers
from engine.models.encoder import tuned_model
from engine.models.packaged import Packaged, fill, under
from engine.models.sentences import Encoded, SentenceModel
from engine.route.candidate_space import CandidateSpace
from engine.route.decoder import BeamSettings, Found, search
from engine.route.pointing import Asked, Pointed
from engine.route.scoring import of_made
from engine.values.recent import Recent
from engine.values.settings import EncoderSettings
from engine.values.shipped import shipped

if TYPE_CHECKING:
    from engine.models.beams import StepWeights
    from engine.models.network import Ground, Names, Network, Survey

NAME, FORMAT = "router", 2
"""Of the artifact: its manifest says the same."""

TOWER, NETWORK = "tower.layers", "network"
"""Prefixes of the names of an artifact's arrays."""

_FIELDS = 4
"""Fields kept as tensors; they share the field's memory."""

_LEAST_HEADS, _FAR = 2, 5.0
"""Databases searched at least, and the distance from the best, in log-odds, beyond which none is searched."""

_TOGETHER, _AT_ONCE = 16, 2
"""Questions in one batch: more would not fit the processor's cache. Batches at the same time, a thread each, as in
`engine.models.sentences`."""


def packaged() -> Path:
    """The folder of the network that comes with the program."""
    return shipped("models/router_base")


class PointerModel:
    """Blocks; safe to call from several threads."""

    def __init__(self, artifact: Packaged, settings: EncoderSettings | None = None) -> None:
        self._artifact = artifact
        self._settings = settings or EncoderSettings()
        self._lock = threading.Lock()
        self._built: tuple[SentenceModel, Network, StepWeights] | None = None
        self._grounds = Recent[int, "tuple[Ground, Names]"](_FIELDS)

    @property
    def quantized(self) -> bool:
        """Whether it takes columns as 8-bit integers."""
        return multiplies_integers()

    def read(self, questions: Sequence[str]) -> Sequence[Encoded]:
        """The questions by the tuned encoder. Raises `EncoderUnavailableError`, `PackagedError`."""
        with self._lock:
            tower, _, _ = self._loaded()
            return tower.questions(questions)

    def point(self, asked: Sequence[Asked], field: CandidateSpace, settings: BeamSettings) -> list[Pointed]:
        """An output for each question over `field`."""
        import torch  # noqa: PLC0415  heavy: loaded with the first question

        with self._lock, torch.inference_mode():
            _, network, _ = self._loaded()
            ground, names = self._ground(field)

            def some(start: int) -> list[Pointed]:
                with torch.inference_mode():  # of one thread
                    survey = surveyed(network, ground, names, asked[start : start + size])
                    made = np.stack([one.made for one in asked[start : start + size]])
                    return self._pointed(ground, survey, made, settings)

            size = max(1, min(_TOGETHER, -(-len(asked) // _AT_ONCE)))
            starts = range(0, len(asked), size)
            if len(starts) <= 1:
                return some(0) if asked else []
            with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="point") as pool:
                return list(chain.from_iterable(pool.map(some, starts)))

    def _pointed(
        self, ground: Ground, survey: Survey, made: NDArray[np.float32], settings: BeamSettings
    ) -> list[Pointed]:
        from engine.models.beams import begin  # noqa: PLC0415  as torch

        _, network, step = self._loaded()
        more = of_made(made)
        logits = (survey.root / float(self._artifact.arrays["temperature"])).numpy() + more
        heads = [likely_databases(row, settings.groups) for row in logits]
        rows = np.repeat(np.arange(len(heads)), [len(some) for some in heads])
        start = begin(step, ground, survey, rows, np.concatenate(heads))
        found: list[list[Found]] = [[] for _ in heads]
        firsts = np.searchsorted(rows, np.arange(len(heads)))
        for one in search(start, settings):
            row = int(rows[one.head])
            found[row].append(replace(one, head=one.head - int(firsts[row])))
        tables = network.first_tables(survey, ground).numpy()
        parts, evidence = survey.parts.numpy(), np.maximum(survey.evidence.numpy(), made)
        retrieval = survey.retrieval.numpy() + more
        return [
            Pointed(
                logits=logits[row],
                retrieval=retrieval[row],
                parts=parts[:, row],
                evidence=evidence[row],
                tables=tables[row],
                heads=tuple(some.tolist()),
                found=tuple(found[row]),
            )
            for row, some in enumerate(heads)
        ]

    def _ground(self, field: CandidateSpace) -> tuple[Ground, Names]:
        from engine.models.network import Ground  # noqa: PLC0415  as torch

        held = self._grounds.get(id(field))
        if held is None:
            _, network, _ = self._loaded()
            ground = Ground.of(field)
            # A ground holds its field, so that the field's id keeps its meaning.
            held = self._grounds.keep(id(field), (ground, network.name(ground)))
        return held

    def _loaded(self) -> tuple[SentenceModel, Network, StepWeights]:
        if self._built is None:
            from engine.models.beams import StepWeights  # noqa: PLC0415  as torch
            from engine.models.network import Network  # noqa: PLC0415  as torch

            model, bert, _ = tuned_model(self._settings, under(TOWER, self._artifact.arrays))
            network = Network(bert.config.hidden_size)
            fill(network, under(NETWORK, self._artifact.arrays))
            read = SentenceModel(model, batch=self._settings.batch)
            self._built = read, network.eval(), StepWeights.of(network)
        return self._built


def likely_databases(logits: NDArray[np.float32], groups: int) -> NDArray[np.intp]:
    """The databases to search, likeliest first: two at least where there are, and no hopeless one beyond."""
    # A stable order, so that databases with the same schema come in the order given.
    order = np.argsort(-logits, kind="stable")[:groups]
    worth = logits[order] > logits[order[0]] - _FAR
    worth[:_LEAST_HEADS] = True
    chosen: NDArray[np.intp] = order[worth]
    return chosen


def surveyed(network: Network, ground: Ground, names: Names, asked: Sequence[Asked]) -> Survey:
    """The similarities of the questions to the ground."""
    import torch  # noqa: PLC0415  heavy: loaded with the first question

    from engine.models.network import Reading  # noqa: PLC0415  as torch

    longest = max(1, *(len(one.tokens) for one in asked))
    tokens = np.zeros((len(asked), longest, len(asked[0].sentence)), dtype=np.float32)
    mask = np.zeros((len(asked), longest), dtype=np.float32)
    for row, one in enumerate(asked):
        tokens[row, : len(one.tokens)] = one.tokens
        mask[row, : max(1, len(one.tokens))] = 1
    reading = Reading(
        torch.from_numpy(tokens),
        torch.from_numpy(np.stack([one.sentence for one in asked])),
        torch.from_numpy(mask),
    )
    words = torch.from_numpy(np.stack([one.words for one in asked]).astype(np.float32))
    coverage = torch.from_numpy(np.stack([one.coverage for one in asked]).astype(np.float32))
    return network.survey(reading, ground, names, words, coverage)
