"""The heads of the ranker's cross-encoder (MetaSQL §III-C2): scores of a whole statement, and of each phrase.

Heavy: imports torch.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTH = 96
"""Of the heads' hidden layers."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """A batch of pairs as tokens (b, n). `parts`: 0 outside, 1 the question's tokens, 1 + k those of phrase k."""

    ids: Tensor
    mask: Tensor
    parts: Tensor

    @property
    def phrases(self) -> int:
        """The largest number of phrases of a pair."""
        return int(self.parts.max()) - 1


@dataclass(frozen=True, slots=True)
class Scores:
    """`whole`: (b,), of the pair; `phrases`: (b, k) log-odds; `present`: (b, k), whether there is such a phrase."""

    whole: Tensor
    phrases: Tensor
    present: Tensor

    @property
    def phrase_total(self) -> Tensor:
        """(b,): log-probability that every phrase is asked for, taken as independent."""
        return (functional.logsigmoid(self.phrases) * self.present).sum(1)


class Heads(nn.Module):
    """Scores of hidden states; `dimension`: of these."""

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.whole = scorer(4 * dimension)
        self.phrase = scorer(4 * dimension)

    def forward(self, hidden: Tensor, pairs: Pairs) -> Scores:
        """`hidden`: (b, n, d)."""
        question = _mean(hidden, pairs.parts == 1)
        statement = _mean(hidden, pairs.parts > 1)
        numbers = torch.arange(2, pairs.phrases + 2)
        belongs = (pairs.parts[:, None, :] == numbers[None, :, None]).to(hidden.dtype)
        sizes = belongs.sum(2, keepdim=True)
        each = belongs @ hidden / sizes.clamp_min(1)
        asked = question[:, None, :].expand_as(each)
        return Scores(
            self.whole(_compared(question, statement)).squeeze(-1),
            self.phrase(_compared(asked, each)).squeeze(-1),
            (sizes.squeeze(-1) > 0).to(hidden.dtype),
        )


def scorer(inputs: int) -> nn.Sequential:
    """(…, inputs) → (…, 1), by one hidden layer."""
    return nn.Sequential(nn.Linear(inputs, WIDTH), nn.GELU(), nn.Linear(WIDTH, 1))


def _compared(left: Tensor, right: Tensor) -> Tensor:
    return torch.cat([left, right, left * right, (left - right).abs()], dim=-1)


def _mean(hidden: Tensor, chosen: Tensor) -> Tensor:
    weights = chosen.to(hidden.dtype)[..., None]
    return (hidden * weights).sum(1) / weights.sum(1).clamp_min(1)
