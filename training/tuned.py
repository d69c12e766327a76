"""The packaged encoder's upper layers, and heads upon them, in training: for the linker."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from engine.models.encoder import loaded_model
from engine.values.settings import EncoderSettings

HeadsT = TypeVar("HeadsT", bound=torch.nn.Module)

HEAD_RATE, WARM = 1e-3, 0.08


class Tuned(Generic[HeadsT]):
    """`heads`: made for states of so many numbers. The layers below the `tuned` uppermost stay as they are."""

    def __init__(
        self, heads: Callable[[int], HeadsT], seed: int, threads: int, tuned: int, rate: float
    ) -> None:
        torch.manual_seed(seed)
        model = loaded_model(EncoderSettings(threads=threads))
        self.tokenizer, bert = model.tokenizer, model[0].auto_model
        self._embeddings, self._below = bert.embeddings, bert.encoder.layer[:-tuned]
        self.layers, self.heads = bert.encoder.layer[-tuned:], heads(bert.config.hidden_size)
        self._rates = (rate, HEAD_RATE)
        groups = [{"params": list(part.parameters())} for part in (self.layers, self.heads)]
        self._optimiser = torch.optim.AdamW(groups, weight_decay=0.01)
        self.parts = (self.layers, self.heads, self._optimiser)

    def lower(self, ids: Tensor, mask: Tensor) -> Tensor:
        """States below the layers that are trained, (b, n, d)."""
        with torch.no_grad():
            return _through(self._below, self._embeddings(input_ids=ids), mask)

    def upper(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """States of the last layer."""
        return _through(self.layers, hidden, mask)

    def step(self, cost: Tensor, done: float) -> None:
        """One step at `done` of the training, in [0, 1)."""
        for group, full in zip(self._optimiser.param_groups, self._rates, strict=True):
            group["lr"] = full * share_of_rate(done)
        self._optimiser.zero_grad()
        cost.backward()  # type: ignore[no-untyped-call]  # torch types it not
        torch.nn.utils.clip_grad_norm_([*self.layers.parameters(), *self.heads.parameters()], 1.0)
        self._optimiser.step()


def _through(layers: Any, hidden: Tensor, mask: Tensor) -> Tensor:
    outside = (1.0 - mask[:, None, None, :].float()) * -1e4
    for layer in layers:
        result = layer(hidden, outside)
        hidden = result[0] if isinstance(result, tuple) else result
    return hidden


def share_of_rate(done: float) -> float:
    """Of the full rate, at `done` of the training: a straight line up, then half a cosine down."""
    if done < WARM:
        return max(done / WARM, 0.02)
    return 0.5 * (1 + math.cos(math.pi * min(1.0, (done - WARM) / (1 - WARM))))
