"""The learned router's network: a decoder that points at nodes of the schema graph for a question that was read.

Owns the arithmetic, for training and answering, except for the decoder's steps: those are numpy's while answering
(`engine.models.beams`), torch's in training (`training.sequences`). Schema vectors come from the untouched encoder, so
that a database is routable before anything was trained on it. Heavy: imports torch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from engine.models.bert import rounded
from engine.route.candidate_space import CandidateSpace
from engine.route.index import Quantized

HIDDEN = 128
"""Width of the decoder's state."""

FIRST = 4
"""The kind of the step from a database to its first table, after the four of `engine.values.schema_graph.EdgeKind`."""

NOWHERE = -1e9
UNIT = 20.0
"""Unit vectors of 384 dimensions have entries of a twentieth: this puts them back at one."""

_ROOT = {"late": 15.0, "pair": 11.0, "best": 3.0, "whole": 3.0, "words": 3.5, "size": -0.45, "match": 1.0}
PARTS = ("best", "whole", "words", "size", "late", "pair", "match")
"""What a database's logit is the sum of; words and whole-text vectors account for the first four."""

_RETRIEVAL = 4

_TABLE = {"late": 11.0, "text": 1.5, "words": 3.0}
_LATER = {"late": 3.0, "text": 0.5, "words": 1.0, "gain": 12.0}
_END = {"best_gain": -12.0, "uncovered": 0.0}
"""Where training starts: a linear model's weights, fitted before there was a network. That of `match` stays: what it
multiplies has weights of its own."""


@dataclass(frozen=True, slots=True)
class Reading:
    """B questions of at most m tokens.

    `tokens`: (B, m, d), unit vectors. `sentence`: (B, d), unit vectors. `mask`: (B, m), 1 where a token is a word of
    the question, 0 at the model's marks and at padding; each row has a 1.
    """

    tokens: Tensor
    sentence: Tensor
    mask: Tensor


@dataclass(frozen=True, slots=True)
class Ground:
    """A field as tensors; see `engine.route.candidate_space.CandidateSpace`.

    `columns`: (C, d); as 8-bit integers with their scales, (C,), where the field has them so. A question waits for the
    columns to come from memory, and these are a quarter; a cosine then is off by 0.001, and has no gradient.
    """

    field: CandidateSpace
    whole: Tensor
    texts: Tensor
    columns: Tensor | tuple[Tensor, Tensor]
    owners: Tensor
    column_owners: Tensor
    pairs: Tensor
    pair_owners: Tensor
    log_sizes: Tensor

    @staticmethod
    def of(field: CandidateSpace) -> Ground:
        """Shares the field's memory."""
        columns = field.columns
        sizes = np.diff(np.append(field.column_starts, len(columns)))
        owners = torch.from_numpy(field.owners)
        pairs = torch.from_numpy(field.pairs)
        counts = torch.bincount(owners, minlength=len(field.databases)).float()
        return Ground(
            field=field,
            whole=torch.from_numpy(field.whole),
            texts=torch.from_numpy(field.texts),
            columns=(torch.from_numpy(columns.values), torch.from_numpy(columns.scales))
            if isinstance(columns, Quantized)
            else torch.from_numpy(columns),
            owners=owners,
            column_owners=torch.from_numpy(np.repeat(np.arange(len(sizes)), sizes)),
            pairs=pairs,
            pair_owners=owners[pairs[:, 0]],
            log_sizes=torch.log(counts),
        )


@dataclass(frozen=True, slots=True)
class Names:
    """A ground's nodes as the decoder knows them: `databases`, (D, HIDDEN), and `tables`, (T, HIDDEN)."""

    databases: Tensor
    tables: Tensor


@dataclass(frozen=True, slots=True)
class Survey:
    """The similarities of B questions to a field.

    `closest`: (B, m, T), cosine of each token and the closest column of each table. `weights`: (B, m), of the tokens;
    each row adds up to 1. `parts`: (7, B, D), what the databases' logits are the sum of, in the order of `PARTS`.
    `late`, `text`, `words`: (B, T). `evidence`: (B, D), cosine of the question and the closest table or column.
    `state`: (B, HIDDEN), the decoder's before its first step. `names`: of the field's nodes.
    """

    closest: Tensor
    weights: Tensor
    parts: Tensor
    late: Tensor
    text: Tensor
    words: Tensor
    evidence: Tensor
    state: Tensor
    names: Names

    @property
    def root(self) -> Tensor:
        """(B, D), the databases' logits."""
        return _total(self.parts)

    @property
    def retrieval(self) -> Tensor:
        """(B, D), their part from words and whole-text vectors."""
        return _total(self.parts[:_RETRIEVAL])


def _total(parts: Tensor) -> Tensor:
    """The sum over the first axis, one after the other: another order rounds otherwise."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


class _ClosestColumn(torch.autograd.Function):
    """(n, d) vectors against (C, d) columns: the largest cosine in each table, (n, T)."""

    @staticmethod
    def forward(ctx, vectors, columns, starts, owners):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN205
        cosines = vectors @ columns.T
        best = torch.from_numpy(np.maximum.reduceat(cosines.numpy(), starts, axis=1))
        ctx.save_for_backward(cosines, best, columns, owners)
        return best

    @staticmethod
    def backward(ctx, gradient):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN205
        cosines, best, columns, owners = ctx.saved_tensors
        spread = (cosines == best[:, owners]).float().mul_(gradient[:, owners])
        return spread @ columns, None, None, None


def _closest_column(vectors: Tensor, ground: Ground) -> Tensor:
    starts = ground.field.column_starts
    if not isinstance(ground.columns, tuple):
        best: Tensor = _ClosestColumn.apply(  # type: ignore[no-untyped-call]  # torch types it not
            vectors, ground.columns, starts, ground.column_owners
        )
        return best
    columns, scales = ground.columns
    small, each = rounded(vectors)
    cosines = torch._int_mm(small, columns.t()) * scales  # noqa: SLF001  has no public name
    return torch.from_numpy(np.maximum.reduceat(cosines.numpy(), starts, axis=1)) * each


def largest(values: Tensor, starts: NDArray[np.intp], owners: Tensor) -> Tensor:
    """The largest of each run of the last axis; the gradient goes to the largest entries."""
    with torch.no_grad():
        best = torch.from_numpy(np.maximum.reduceat(values.detach().numpy(), starts, axis=-1))
    if not values.requires_grad:
        return best
    at_best = (values == best[..., owners]).float()
    none = torch.zeros_like(best)
    total = none.index_add(-1, owners, values * at_best)
    return total / none.index_add(-1, owners, at_best)


def _weights(values: dict[str, float]) -> nn.ParameterDict:
    return nn.ParameterDict({name: nn.Parameter(torch.tensor(value)) for name, value in values.items()})


class Network(nn.Module):
    """Points at databases and tables; `dimension`: of the encoder's vectors."""

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.gate = nn.Linear(dimension, 1)
        nn.init.zeros_(self.gate.weight)
        nn.init.zeros_(self.gate.bias)
        self.contrast = nn.Parameter(torch.tensor(1.0))
        self.root = _weights(_ROOT)
        self.root["match"].requires_grad_(requires_grad=False)
        self.table = _weights(_TABLE)
        self.later = _weights(_LATER)
        self.end = _weights(_END)
        self.asking = nn.Linear(dimension, HIDDEN)
        self.naming = nn.Linear(dimension, HIDDEN, bias=False)
        nn.init.normal_(self.naming.weight, std=0.3 / dimension**0.5)
        self.cell = nn.GRUCell(HIDDEN, HIDDEN)
        self.link = nn.Parameter(torch.zeros(FIRST + 1))
        self.stop = nn.Linear(HIDDEN, 1)
        nn.init.zeros_(self.stop.weight)
        nn.init.constant_(self.stop.bias, 1.0)

    def name(self, ground: Ground) -> Names:
        """The nodes' embeddings: the same for every question, so cache them while the weights stay."""
        return Names(self.naming(ground.whole), self.naming(ground.texts))

    def survey(
        self, reading: Reading, ground: Ground, names: Names, words: Tensor, coverage: Tensor
    ) -> Survey:
        """`words`: (B, T) and `coverage`: (B, D), lexical shares of each table and database."""
        field = ground.field
        count, width, dimension = reading.tokens.shape
        vectors = torch.cat([reading.tokens.reshape(-1, dimension), reading.sentence])
        best = _closest_column(vectors, ground)
        closest = best[:-count].view(count, width, -1)
        column = best[-count:]
        databases = largest(closest, field.table_starts, ground.owners)
        weights = self._token_weights(reading, closest, databases)
        late = torch.einsum("bm,bmt->bt", weights, closest)
        text = reading.sentence @ ground.texts.T
        pairs = torch.maximum(closest[:, :, ground.pairs[:, 0]], closest[:, :, ground.pairs[:, 1]])
        paired = torch.einsum("bm,bme->be", weights, pairs)
        state = torch.tanh(self.asking(reading.sentence))
        match = state @ names.databases.T
        # In the order of `PARTS`.
        parts = [
            self.root["best"] * _mean_of_best(text + column, ground),
            self.root["whole"] * (reading.sentence @ ground.whole.T),
            self.root["words"] * coverage,
            self.root["size"] * ground.log_sizes.expand_as(match),
            self.root["late"] * torch.einsum("bm,bmd->bd", weights, databases),
            self.root["pair"] * largest(paired, field.pair_starts, ground.pair_owners),
            self.root["match"] * match,
        ]
        evidence = largest(torch.maximum(text, column).detach(), field.table_starts, ground.owners)
        return Survey(closest, weights, torch.stack(parts), late, text, words, evidence, state, names)

    def _token_weights(self, reading: Reading, closest: Tensor, databases: Tensor) -> Tensor:
        """Weights of the tokens, (B, m): spread of a token's cosines over databases (or tables), times its gate."""
        compared = databases if databases.shape[2] > 1 else closest
        differ = compared.detach().std(2, correction=0).clamp_min(1e-4)
        said = self.gate(reading.tokens)[..., 0] * UNIT
        weights = torch.exp(said.clamp(-6, 6)) * differ**self.contrast * reading.mask
        return weights / weights.sum(1, keepdim=True)

    def first_tables(self, survey: Survey, ground: Ground) -> Tensor:
        """(B, T): log-probability that each table is the first of its database, without regard to other tables."""
        logits = self.first_logits(survey.late, survey.text, survey.words)
        starts, owners = ground.field.table_starts, ground.owners
        total = torch.from_numpy(np.logaddexp.reduceat(logits.numpy(), starts, axis=1))
        return logits - total[:, owners]

    def first_logits(self, late: Tensor, text: Tensor, words: Tensor) -> Tensor:
        """Of tables as the first one, from what the question is like them; the shapes are the arguments'."""
        logits: Tensor = self.table["late"] * late + self.table["text"] * text + self.table["words"] * words
        return logits


def _mean_of_best(values: Tensor, ground: Ground) -> Tensor:
    """Mean of each database's two best tables (of one, itself)."""
    starts, owners = ground.field.table_starts, ground.owners
    first = largest(values, starts, owners)
    second = largest(values.masked_fill(values == first[:, owners], NOWHERE), starts, owners)
    return torch.where(second > NOWHERE / 2, (first + second) / 2, first)
