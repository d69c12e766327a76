"""The fit of a phrase adapter to triplets of vectors. Heavy: imports torch."""

from __future__ import annotations

import numpy as np
import torch

from engine.link.phrase_adapter import PhraseAdapter, Vectors

RANK = 8
STEPS = 300
RATE = 0.01
MARGIN = 0.1
"""Margin of the preferred element's cosine over the rejected one's."""

SHRINK = 1e-3
"""Weight decay."""

STAY = 0.5
"""Weight of 1 - cosine of a phrase before and after, since other phrases are corrected with it."""


def train_adapter(phrases: Vectors, preferred: Vectors, rejected: Vectors) -> PhraseAdapter:
    """An adapter for triplets, each argument of shape (n, d) with unit rows; the same for the same triplets.

    Least are mean(max(0, margin - x'·(a - b))) + stay · mean(1 - x'·x) + shrink · (|U|² + |V|²) / 2.
    """
    rng = np.random.default_rng(0)
    dimension = phrases.shape[1]
    up = torch.zeros((dimension, RANK), dtype=torch.float64, requires_grad=True)
    first = rng.normal(scale=dimension**-0.5, size=(dimension, RANK))
    down = torch.from_numpy(first).requires_grad_()
    own, away = (torch.from_numpy(each.astype(np.float64)) for each in (phrases, preferred - rejected))
    steps = torch.optim.Adam([up, down], lr=RATE)
    for _ in range(STEPS):
        turned = torch.nn.functional.normalize(own + own @ down @ up.T, dim=1)
        short = (MARGIN - (turned * away).sum(dim=1)).clamp_min(0).mean()
        stay = 1 - (turned * own).sum(dim=1).mean()
        loss = short + STAY * stay + SHRINK * (up.square().sum() + down.square().sum()) / 2
        steps.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch types it not
        steps.step()
    return PhraseAdapter(*(each.detach().numpy().astype(np.float32) for each in (up, down)))
