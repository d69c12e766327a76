"""Qwen2 over the weights of a GGUF file, with an adapter that is trained: the pass over continuations of one prefix.

The weights are those that are served, dequantised. What stands before the question is read without the adapter, and
once: its keys and values are kept. In the lowest layers nothing is changed. Owns no data and no optimisation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

RANK, ALPHA = 8, 16
LOWEST = 10
"""Layers below it stay as they are."""

PROJECTIONS = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")

Cells = list[tuple[Tensor, Tensor]]
"""Keys and values of a prefix, a pair a layer, each of shape (heads, tokens, dimension)."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The network's dimensions."""

    layers: int
    heads: int
    shared: int
    size: int
    base: float
    epsilon: float


@dataclass(frozen=True, slots=True)
class Base:
    """The frozen weights, by llama.cpp's names: matrices in bfloat16, norms and biases in float."""

    shape: Shape
    weights: Mapping[str, Tensor]

    @classmethod
    def read(cls, file: Path) -> Base:
        """Those of a GGUF file of Qwen2's architecture."""
        reader = gguf.GGUFReader(file)
        told = {name: each.contents() for name, each in reader.fields.items() if name.startswith("qwen2.")}
        heads, width = int(told["qwen2.attention.head_count"]), int(told["qwen2.embedding_length"])
        shape = Shape(
            int(told["qwen2.block_count"]),
            heads,
            int(told["qwen2.attention.head_count_kv"]),
            width // heads,
            float(told["qwen2.rope.freq_base"]),
            float(told["qwen2.attention.layer_norm_rms_epsilon"]),
        )
        weights = {}
        for each in reader.tensors:
            values = torch.from_numpy(gguf.dequantize(each.data, each.tensor_type).astype(np.float32))
            exact = each.name.endswith(("norm.weight", "bias"))
            weights[each.name] = values if exact else values.to(torch.bfloat16)
        return cls(shape, weights)

    def __getitem__(self, name: str) -> Tensor:
        return self.weights[name]


class Adapter(torch.nn.Module):
    """The trained matrices: A of shape (rank, inputs) and B of (outputs, rank) for each projection."""

    def __init__(self, base: Base) -> None:
        super().__init__()
        self.names = [
            f"blk.{layer}.{each}.weight" for layer in range(LOWEST, base.shape.layers) for each in PROJECTIONS
        ]
        self.a, self.b = torch.nn.ParameterList(), torch.nn.ParameterList()
        for name in self.names:
            outputs, inputs = base[name].shape
            a = torch.empty(RANK, inputs)
            torch.nn.init.kaiming_uniform_(a, a=math.sqrt(5))
            self.a.append(torch.nn.Parameter(a))
            self.b.append(torch.nn.Parameter(torch.zeros(outputs, RANK)))
        self.places = {name: place for place, name in enumerate(self.names)}

    def change(self, name: str, x: Tensor, where: Tensor) -> Tensor | None:
        """What is added to a projection of `x`, where it acts."""
        place = self.places.get(name)
        if place is None:
            return None
        low = functional.linear(x, self.a[place].to(torch.bfloat16)) * where
        return functional.linear(low, self.b[place].to(torch.bfloat16)) * (ALPHA / RANK)


@dataclass(frozen=True, slots=True)
class _Texts:
    """What a pass knows of its texts: each token's rotation, what each text sees, where the adapter acts."""

    cosine: Tensor
    sine: Tensor
    masks: Sequence[Tensor]
    acts: Tensor

    def rotated(self, x: Tensor) -> Tensor:
        first, second = x.float().chunk(2, -1)
        turned = torch.cat((-second, first), -1)
        return (x.float() * self.cosine + turned * self.sine).to(torch.bfloat16)


class Network:
    """Qwen2's pass over several continuations of one prefix at once."""

    def __init__(self, base: Base, adapter: Adapter) -> None:
        self.base, self.adapter = base, adapter
        half = torch.arange(0, base.shape.size, 2, dtype=torch.float32) / base.shape.size
        self._frequencies = 1.0 / base.shape.base**half

    @torch.no_grad()
    def prefix(self, tokens: Sequence[int], begun: Cells) -> Cells:
        """The cells of a prefix that goes on behind `begun`, those included, without the adapter."""
        _, own = self._pass([tokens], begun, [len(tokens)])
        return [
            (torch.cat((k0, k), 1), torch.cat((v0, v), 1))
            for (k0, v0), (k, v) in zip(begun or self._none(), own, strict=True)
        ]

    def loss(
        self, texts: Sequence[Sequence[int]], plain: Sequence[int], said: Sequence[int], cells: Cells
    ) -> Tensor:
        """Sum of the answers' negative log-likelihoods, nats.

        `texts` go on behind `cells`; of each the first `plain` tokens are read without the adapter and the last `said`
        are the answer.
        """
        hidden, _ = self._pass(texts, cells, plain)
        ends = np.cumsum([len(text) for text in texts])
        places = torch.cat([torch.arange(end - n - 1, end - 1) for end, n in zip(ends, said, strict=True)])
        wanted = torch.tensor([token for text, n in zip(texts, said, strict=True) for token in text[-n:]])
        normed = self._normed(hidden[places], "output_norm.weight")
        logits = functional.linear(normed, self.base["output.weight"]).float()
        return functional.cross_entropy(logits, wanted, reduction="sum")

    def _none(self) -> Cells:
        shape = self.base.shape
        empty = torch.zeros(shape.shared, 0, shape.size, dtype=torch.bfloat16)
        return [(empty, empty)] * shape.layers

    def _pass(
        self, texts: Sequence[Sequence[int]], cells: Cells, plain: Sequence[int]
    ) -> tuple[Tensor, Cells]:
        """The last layer's states, shape (tokens, width), and the texts' own cells."""
        begun = cells[0][0].shape[1] if cells else 0
        read = self._read(list(map(len, texts)), plain, begun)
        hidden = self.base["token_embd.weight"][[token for text in texts for token in text]].float()
        own = []
        for layer, before in enumerate(cells or self._none()):
            hidden, kept = self._layer(layer, hidden, before, read)
            own.append(kept)
        return hidden, own

    def _read(self, lengths: Sequence[int], plain: Sequence[int], begun: int) -> _Texts:
        positions = torch.cat([torch.arange(begun, begun + length) for length in lengths])
        turn = (positions[:, None] * self._frequencies[None]).repeat(1, 2)
        acts = [torch.arange(length) >= first for length, first in zip(lengths, plain, strict=True)]
        masks = [torch.ones(n, begun + n, dtype=torch.bool).tril(begun) for n in lengths]
        return _Texts(torch.cos(turn), torch.sin(turn), masks, torch.cat(acts)[:, None].to(torch.bfloat16))

    def _layer(
        self, layer: int, hidden: Tensor, before: tuple[Tensor, Tensor], read: _Texts
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        shape, at, acts = self.base.shape, f"blk.{layer}", read.acts
        x = self._normed(hidden, f"{at}.attn_norm.weight")
        q = read.rotated(_heads(self._project(f"{at}.attn_q", x, acts), shape.heads))
        k = read.rotated(_heads(self._project(f"{at}.attn_k", x, acts), shape.shared))
        v = _heads(self._project(f"{at}.attn_v", x, acts), shape.shared)
        hidden = hidden + self._project(
            f"{at}.attn_output", self._attended(q, (k, v), before, read.masks), acts
        )
        x = self._normed(hidden, f"{at}.ffn_norm.weight")
        gate = functional.silu(self._project(f"{at}.ffn_gate", x, acts))
        up = self._project(f"{at}.ffn_up", x, acts)
        return hidden + self._project(f"{at}.ffn_down", gate * up, acts), (k, v)

    def _attended(
        self, q: Tensor, own: tuple[Tensor, Tensor], before: tuple[Tensor, Tensor], masks: Sequence[Tensor]
    ) -> Tensor:
        """What each text's tokens attend to: the prefix, and what they follow in their own text."""
        times, begin, found = self.base.shape.heads // self.base.shape.shared, 0, []
        for mask in masks:
            end = begin + len(mask)
            keys, values = (
                torch.cat((prefix, mine[:, begin:end]), 1).repeat_interleave(times, 0)[None]
                for prefix, mine in zip(before, own, strict=True)
            )
            one = functional.scaled_dot_product_attention(q[None, :, begin:end], keys, values, attn_mask=mask)
            found.append(one[0].transpose(0, 1).reshape(end - begin, -1))
            begin = end
        return torch.cat(found)

    def _project(self, name: str, x: Tensor, acts: Tensor) -> Tensor:
        y = functional.linear(x, self.base[f"{name}.weight"])
        if name.endswith(("_q", "_k", "_v")):
            y = y + self.base[f"{name}.bias"].to(y.dtype)
        change = self.adapter.change(f"{name}.weight", x, acts)
        return y if change is None else y + change

    def _normed(self, hidden: Tensor, name: str) -> Tensor:
        scale = torch.rsqrt(hidden.pow(2).mean(-1, keepdim=True) + self.base.shape.epsilon)
        return (hidden * scale * self.base[name]).to(torch.bfloat16)


def _heads(x: Tensor, heads: int) -> Tensor:
    """(tokens, heads x size) as (heads, tokens, size)."""
    return x.view(len(x), heads, -1).transpose(0, 1)


class Prefixes:
    """Computed prefixes, by their tokens; all begin with `instructions`."""

    def __init__(self, network: Network, instructions: tuple[int, ...]) -> None:
        self._network = network
        self._instructions = instructions
        self._begun = network.prefix(instructions, [])
        self._known: dict[tuple[int, ...], Cells] = {}

    def cells(self, tokens: tuple[int, ...]) -> Cells:
        """Of `tokens`, computed once."""
        if tokens not in self._known:
            rest = tokens[len(self._instructions) :]
            self._known[tokens] = self._network.prefix(rest, self._begun) if rest else self._begun
        return self._known[tokens]
