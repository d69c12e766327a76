"""The network that links a schema: heads over an encoder's states, and an attention layer over nodes (as RAT-SQL's).

Heavy: imports torch.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from engine.link.nodes import ASKED, FEATURES, RELATIONS, NodeRelation
from engine.models.cross_network import scorer
from engine.values.schema_graph import EdgeKind

INNER, ATTENTIONS = 128, 4
"""Width of the attention layer, and its heads."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """A batch of e questions in w windows of t tokens, n nodes each at most, padded.

    `ids`, `mask`, `parts`, `marked`: (w, t), (w, t), (w, t), (w, t, 2): the nodes are numbered through the batch,
    example times n plus node; `marked` are the question's words' marks. `owner`: (w,), the windows' examples.
    `features`: (e, n, f). `relations`: (e, n, n). `tables`: (e, n), whether a node is a table. `present`: (e, n).
    `joins`: (k, 2), a column and a table that it joins to, numbered through the batch.
    """

    ids: Tensor
    mask: Tensor
    parts: Tensor
    marked: Tensor
    owner: Tensor
    features: Tensor
    relations: Tensor
    tables: Tensor
    present: Tensor
    joins: Tensor


@dataclass(frozen=True, slots=True)
class Found:
    """`nodes`: (e, n), log-odds of tables, and of columns given their tables. `answerable`: (e,), log-odds.

    `alone`: (e, n), the same before the schema's structure was looked at.
    """

    nodes: Tensor
    answerable: Tensor
    alone: Tensor


class Heads(nn.Module):
    """Scores of hidden states; `dimension`: of these."""

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.node_marks = nn.Linear(len(FEATURES), dimension, bias=False)
        self.word_marks = nn.Linear(2, dimension, bias=False)
        nn.init.zeros_(self.node_marks.weight)
        nn.init.zeros_(self.word_marks.weight)
        self.related = Related(dimension)
        self.table = scorer(3 * dimension + len(FEATURES))
        self.column = scorer(3 * dimension + len(FEATURES) + 1)
        self.structure = Structure()
        self.missing = nn.Linear(dimension, 1)
        self.answerable = scorer(5 * dimension + 2)

    def marks(self, inputs: Inputs) -> Tensor:
        """(w, t, d), to be added to the tokens' states below the tuned layers."""
        flat = self.node_marks(inputs.features).flatten(0, 1)
        nodes = flat[inputs.parts.clamp_min(0)] * (inputs.parts >= 0)[..., None]
        marks: Tensor = nodes + self.word_marks(inputs.marked)
        return marks

    def forward(self, hidden: Tensor, inputs: Inputs) -> Found:
        """`hidden`: (w, t, d), of the encoder's last layer."""
        examples, width = inputs.present.shape
        nodes = pooled(hidden, inputs.parts, examples * width).view(examples, width, -1)
        nodes = self.related(nodes, inputs.relations, inputs.present)
        asked = inputs.parts == ASKED
        owners = torch.where(asked, inputs.owner[:, None], -1)
        question = pooled(hidden, owners, examples)
        aside = question[:, None, :].expand_as(nodes)
        compared = torch.cat([nodes, aside, nodes * aside, inputs.features], dim=-1)
        first = self.table(compared).squeeze(-1)
        alone = self._scores(first, compared, inputs)
        tables = first + self.structure(alone, inputs)
        scores = self._scores(tables, compared, inputs)
        about_all = torch.cat(
            [*self._of_question(hidden, inputs), *best_nodes(nodes, scores, inputs)], dim=-1
        )
        return Found(scores, self.answerable(about_all).squeeze(-1), alone)

    def _scores(self, tables: Tensor, compared: Tensor, inputs: Inputs) -> Tensor:
        """(e, n): the tables' as given, and of the columns beside them."""
        joined = self._joined(tables.detach(), inputs)
        columns = self.column(torch.cat([compared, joined[..., None]], dim=-1)).squeeze(-1)
        return torch.where(inputs.tables, tables, columns)

    @staticmethod
    def _joined(tables: Tensor, inputs: Inputs) -> Tensor:
        """(e, n): of a column, the probability of the likeliest table that it joins to; 0 where there is none."""
        found = torch.zeros(tables.numel(), dtype=tables.dtype)
        chances = torch.sigmoid(tables).flatten()[inputs.joins[:, 1]]
        return found.scatter_reduce(0, inputs.joins[:, 0], chances, "amax").view_as(tables)

    def _of_question(self, hidden: Tensor, inputs: Inputs) -> tuple[Tensor, Tensor, Tensor]:
        """(e, d) each: of the first token, of the question, of its words by how much they say what is missing."""
        examples = len(inputs.present)
        owners = torch.where(inputs.parts == ASKED, inputs.owner[:, None], -1)
        first = torch.full_like(owners, -1)
        first[:, 0] = inputs.owner
        weights = self.missing(hidden).clamp(-20, 20).exp().squeeze(-1)
        groups = ((first, None), (owners, None), (owners, weights))
        found = [pooled(hidden, group, examples, weight) for group, weight in groups]
        return found[0], found[1], found[2]


def best_nodes(nodes: Tensor, scores: Tensor, inputs: Inputs) -> tuple[Tensor, ...]:
    """The likeliest tables and columns together, (e, d) each, and the best score of each kind, (e, 1)."""
    found: list[Tensor] = []
    for chosen in (inputs.tables, inputs.present & ~inputs.tables):
        masked = scores.masked_fill(~chosen, -1e4)
        found.append((masked.softmax(1)[..., None] * nodes).sum(1))
        found.append(masked.amax(1, keepdim=True).clamp(-10, 10) / 5)
    return tuple(found)


class Structure(nn.Module):
    """What a table's columns and neighbours add to its own score: it is read for them, or to join two that are."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(9, 32)
        self.outer = nn.Linear(32, 1)
        nn.init.zeros_(self.outer.weight)
        nn.init.zeros_(self.outer.bias)

    def forward(self, alone: Tensor, inputs: Inputs) -> Tensor:
        """(e, n) → (e, n), of which only those of tables mean something."""
        related = inputs.relations
        free = torch.ones(alone.numel(), dtype=torch.bool)
        free[inputs.joins[:, 0]] = False
        columns = related == NodeRelation.COLUMN_OF
        unjoined = columns & free.view_as(alone)[:, None, :]
        chances = torch.sigmoid(alone)
        likely = chances * (inputs.tables & inputs.present)
        known = [
            (alone / 4)[..., None],
            _best(chances, columns, 1),
            _best(chances, unjoined, 1),
            ((chances[:, None, :] * unjoined).sum(-1, keepdim=True) / 3).clamp_max(2),
            _best(likely, related >= NodeRelation.EDGES, 2),
            _best(likely, related == NodeRelation.EDGES + EdgeKind.FOREIGN_PRIMARY, 2),
            _best(likely, related != NodeRelation.SELF, 1),
        ]
        added: Tensor = self.outer(nn.functional.gelu(self.inner(torch.cat(known, dim=-1)))).squeeze(-1)
        return added


def _best(chances: Tensor, chosen: Tensor, count: int) -> Tensor:
    """(e, n, count): the largest of `chances` (e, n) among those `chosen` (e, n, n) for each; 0 for none."""
    return nn.functional.pad(chances[:, None, :] * chosen, (0, count)).topk(count, dim=-1).values


class Related(nn.Module):
    """Attention among the nodes, with a weight of each head for each relation."""

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.before = nn.LayerNorm(dimension)
        self.inner = nn.Linear(dimension, 3 * INNER)
        self.outer = nn.Linear(INNER, dimension)
        self.relation = nn.Embedding(RELATIONS, ATTENTIONS)
        self.between = nn.LayerNorm(dimension)
        self.widen = nn.Linear(dimension, 2 * INNER)
        self.narrow = nn.Linear(2 * INNER, dimension)
        for last in (self.outer, self.narrow):
            nn.init.zeros_(last.weight)
            nn.init.zeros_(last.bias)

    def forward(self, nodes: Tensor, relations: Tensor, present: Tensor) -> Tensor:
        """(e, n, d) → (e, n, d)."""
        examples, width, _ = nodes.shape
        split = (examples, width, 3, ATTENTIONS, INNER // ATTENTIONS)
        query, key, value = self.inner(self.before(nodes)).view(split).permute(2, 0, 3, 1, 4)
        bias = self.relation(relations.long()).permute(0, 3, 1, 2)
        bias = bias.masked_fill(~present[:, None, None, :], -1e4)
        mixed = nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=bias)
        nodes = nodes + self.outer(mixed.transpose(1, 2).reshape(examples, width, INNER))
        following: Tensor = nodes + self.narrow(nn.functional.gelu(self.widen(self.between(nodes))))
        return following


def pooled(hidden: Tensor, groups: Tensor, count: int, weights: Tensor | None = None) -> Tensor:
    """(count, d): the mean, or the weighted mean, of the tokens (w, t, d) in each group (w, t); -1: in none."""
    weights = torch.ones(groups.shape, dtype=hidden.dtype) if weights is None else weights
    inside = groups >= 0
    chosen, shares, target = hidden[inside], weights[inside], groups[inside]
    total = torch.zeros(count, hidden.shape[-1], dtype=hidden.dtype).index_add(
        0, target, chosen * shares[:, None]
    )
    size = torch.zeros(count, dtype=hidden.dtype).index_add(0, target, shares)
    return total / size.clamp_min(1e-6)[:, None]
