"""The learned router's network in training: losses by teacher forcing, the optimiser, the parts' learning rates.

Heavy: imports torch.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from engine.models.encoder import loaded_model
from engine.models.network import NOWHERE, Ground, Network, Reading
from engine.models.pointer import NETWORK, TOWER
from engine.route.candidate_space import CandidateSpace
from engine.values.settings import EncoderSettings
from training.router_batches import Batch, States
from training.sequences import Sequences


class Tower(nn.Module):
    """Questions to vectors: a copy of the encoder's last layers, which training changes."""

    def __init__(self, layers: nn.ModuleList) -> None:
        super().__init__()
        self.layers = copy.deepcopy(layers)

    def forward(self, states: Tensor, mask: Tensor) -> Reading:
        """Lower layers' states (B, m, d) of whole texts, their marks included; `mask`: (B, m), 1 at tokens."""
        states = self.through(self.layers, states, mask)
        lengths = mask.sum(1)
        total = (states * mask[..., None]).sum(1) / lengths[:, None]
        inner = mask.float()
        # The first token is [CLS] and the last [SEP]; a text without a word keeps [SEP].
        rows = torch.arange(len(inner))
        inner[:, 0] = 0
        inner[rows, lengths - 1] = (lengths <= 2).float()  # noqa: PLR2004  the two marks
        return Reading(functional.normalize(states, dim=2), functional.normalize(total, dim=1), inner)

    @staticmethod
    def through(layers: nn.ModuleList, states: Tensor, mask: Tensor) -> Tensor:
        """The states (B, m, d) after `layers`."""
        outside = (1.0 - mask[:, None, None, :].float()) * NOWHERE
        for layer in layers:
            result = layer(states, outside)
            states = result[0] if isinstance(result, tuple) else result
        return states


@dataclass(frozen=True, slots=True)
class Costs:
    """Negative log-likelihoods, means over a batch: of the databases, and of the tables given them."""

    root: Tensor
    tables: Tensor


def padded(states: Sequence[States]) -> tuple[Tensor, Tensor]:
    """(B, m, d) and the mask (B, m)."""
    width = max(len(each) for each in states)
    whole = np.zeros((len(states), width, states[0].shape[1]), dtype=np.float32)
    mask = np.zeros((len(states), width), dtype=np.int64)
    for row, each in enumerate(states):
        whole[row, : len(each)] = each
        mask[row, : len(each)] = 1
    return torch.from_numpy(whole), torch.from_numpy(mask)


def costs(tower: Tower, network: Network, ground: Ground, batch: Batch) -> Costs:
    """The costs of the right sequences; a table that cannot be reached ends its sequence at no cost."""
    reading = tower(*padded(batch.states))
    words, coverage = torch.from_numpy(batch.words), torch.from_numpy(batch.coverage)
    survey = network.survey(reading, ground, network.name(ground), words, coverage)
    databases = torch.tensor(batch.databases)
    root = functional.cross_entropy(survey.root, databases)
    sequences = Sequences.begin(network, ground, survey, np.arange(len(databases)), np.array(batch.databases))
    alive = np.ones(len(databases), dtype=bool)
    total = torch.zeros(())
    for number in range(max(map(len, batch.orders)) + 1):
        logits = sequences.logits()
        targets = np.array([_target(sequences, row, order, number) for row, order in enumerate(batch.orders)])
        alive &= targets >= 0
        if not alive.any():
            break
        rows = torch.from_numpy(np.flatnonzero(alive))
        total = total + functional.cross_entropy(
            logits[rows], torch.from_numpy(targets)[rows], reduction="sum"
        )
        alive &= targets < logits.shape[1] - 1
        sequences = sequences.after(np.where(alive, targets, 0))
    return Costs(root, total / len(databases))


def _target(sequences: Sequences, row: int, order: tuple[int, ...], number: int) -> int:
    """The column of the right table, or of the end; -1 where it may not be chosen."""
    if number > len(order):
        return -1
    if number == len(order):
        return sequences.step.kinds.shape[1]
    column = order[number] - sequences.firsts[row]
    return int(column) if sequences.step.kinds[row, column] >= 0 else -1


@dataclass(frozen=True, slots=True)
class Rates:
    """Full learning rates: of the tower, of the single weights, of the rest.

    `tuned`: layers. `tables`: weight of the tables' cost; the databases' counts 1.
    """

    tower: float = 3e-5
    weights: float = 1e-2
    rest: float = 1e-3
    tuned: int = 3
    tables: float = 0.5


class NetworkTrainer:
    """The pointer network over the encoder as it is, learning."""

    def __init__(self, settings: EncoderSettings | None = None, *, seed: int = 1) -> None:
        self._settings = settings or EncoderSettings()
        self._rates = Rates()
        torch.manual_seed(seed)
        self._model = loaded_model(self._settings)
        bert = self._model[0].auto_model
        self._tower = Tower(bert.encoder.layer[-self._rates.tuned :])
        self._network = Network(bert.config.hidden_size)
        self._tower.eval()  # without dropout: the questions are few, and so are the steps
        self._grounds: dict[int, Ground] = {}
        single = [value for value in self._network.parameters() if value.dim() == 0]
        rest = [value for value in self._network.parameters() if value.dim() > 0]
        self._full = [self._rates.tower, self._rates.weights, self._rates.rest]
        groups = [
            {"params": list(self._tower.parameters()), "weight_decay": 0.0},
            {"params": single, "weight_decay": 0.0},
            {"params": rest, "weight_decay": 0.01},
        ]
        self._optimiser = torch.optim.AdamW(groups, lr=self._rates.rest)

    def states(self, questions: Sequence[str]) -> list[States]:
        """What the frozen layers make of each question."""
        bert = self._model[0].auto_model
        below = bert.encoder.layer[: len(bert.encoder.layer) - len(self._tower.layers)]
        order = sorted(range(len(questions)), key=lambda number: len(questions[number]))
        found: dict[int, States] = {}
        for start in range(0, len(order), self._settings.batch):
            numbers = order[start : start + self._settings.batch]
            text = self._model.preprocess([questions[number] for number in numbers])
            with torch.inference_mode():
                hidden = bert.embeddings(input_ids=text["input_ids"])
                hidden = Tower.through(below, hidden, text["attention_mask"])
            lengths = text["attention_mask"].sum(1).tolist()
            for row, (number, length) in enumerate(zip(numbers, lengths, strict=True)):
                found[number] = hidden[row, :length].numpy().astype(np.float16)
        return [found[number] for number in range(len(questions))]

    def learn(self, field: CandidateSpace, batch: Batch, rate: float) -> tuple[float, float]:
        """One step at `rate` of the full learning rate; returns (database loss, table loss) before it."""
        for group, full in zip(self._optimiser.param_groups, self._full, strict=True):
            group["lr"] = rate * full
        cost = costs(self._tower, self._network, self._ground(field), batch)
        self._optimiser.zero_grad()
        (cost.root + self._rates.tables * cost.tables).backward()  # type: ignore[no-untyped-call]  # torch types it not
        everything = [*self._tower.parameters(), *self._network.parameters()]
        torch.nn.utils.clip_grad_norm_(everything, 5.0)
        self._optimiser.step()
        return cost.root.item(), cost.tables.item()

    def arrays(self, temperature: float) -> dict[str, NDArray[Any]]:
        """The artifact's, as it is now: the tuned layers in half precision, the rest in single."""
        found = {
            f"{TOWER}.{name}": value.numpy().astype(np.float16)
            for name, value in self._tower.layers.state_dict().items()
        }
        found |= {f"{NETWORK}.{name}": value.numpy() for name, value in self._network.state_dict().items()}
        return found | {"temperature": np.array(temperature, dtype=np.float32)}

    def _ground(self, field: CandidateSpace) -> Ground:
        if id(field) not in self._grounds:
            self._grounds = {id(field): Ground.of(field)}
        return self._grounds[id(field)]
