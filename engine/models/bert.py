"""The forward pass of a BERT encoder in 8-bit integers (VNNI), for questions of twenty tokens: a third of the time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

Product = Callable[["torch.Tensor"], "torch.Tensor"]
"""A layer's linear map: (n, inputs) → (n, outputs)."""


def integer_pass(model: Any) -> IntegerPass | None:
    """The pass of `model` (of the transformers package); None where the processor or the architecture has none."""
    config = model.config
    fits = (
        type(model).__name__ == "BertModel"
        and config.hidden_act == "gelu"
        and not config.is_decoder
        and getattr(config, "position_embedding_type", "absolute") == "absolute"
    )
    return IntegerPass(model) if fits and multiplies_integers() else None


def multiplies_integers() -> bool:
    """Whether the processor has instructions for products of 8-bit integers."""
    import torch  # noqa: PLC0415  heavy: loaded with the first text

    return torch.cpu._is_vnni_supported()  # noqa: SLF001  has no public name


class IntegerPass:
    """Hidden states of token ids; every token is scaled by itself, so that they do not depend on the batch."""

    def __init__(self, model: Any) -> None:
        import torch  # noqa: PLC0415  as above

        self._torch, self._functional = torch, torch.nn.functional
        config, embeddings = model.config, model.embeddings
        self._heads, self._width, self._epsilon = (
            config.num_attention_heads,
            config.hidden_size,
            config.layer_norm_eps,
        )
        self._words = embeddings.word_embeddings.weight.detach()
        kind = embeddings.token_type_embeddings.weight.detach()[0]
        self._places = embeddings.position_embeddings.weight.detach() + kind
        self._norm = embeddings.LayerNorm
        self._layers = [self._layer(layer) for layer in model.encoder.layer]

    def __call__(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """(b, n, d) for `ids` (b, n); `mask` (b, n) is true where a token is."""
        *_, last = self.layers(ids, mask)
        return last

    def layers(
        self, ids: torch.Tensor, mask: torch.Tensor, added: tuple[int, torch.Tensor] | None = None
    ) -> Iterator[torch.Tensor]:
        """The states (b, n, d) after the embeddings and each layer; `added`: to a layer's input, by its number."""
        batch, length = ids.shape
        whole = (batch, length, self._width)
        flat = (batch * length, self._width)
        split = (batch, length, 3, self._heads, self._width // self._heads)
        seen = None if bool(mask.all()) else mask[:, None, None, :]
        attend = self._functional.scaled_dot_product_attention
        hidden = self._words[ids] + self._places[:length]
        hidden = self._normed(hidden.reshape(flat), self._norm)
        yield hidden.view(whole)
        for number, (inner, outer, after_attention, widen, narrow, after) in enumerate(self._layers):
            if added is not None and added[0] == number:
                hidden = hidden + added[1].reshape(flat)
            query, key, value = inner(hidden).view(split).permute(2, 0, 3, 1, 4)
            mixed = attend(query, key, value, attn_mask=seen).transpose(1, 2).reshape(flat)
            hidden = self._normed(outer(mixed) + hidden, after_attention)
            wide = self._functional.gelu(widen(hidden))
            hidden = self._normed(narrow(wide) + hidden, after)
            yield hidden.view(whole)

    def _normed(self, values: torch.Tensor, norm: Any) -> torch.Tensor:
        return self._functional.layer_norm(values, (self._width,), norm.weight, norm.bias, self._epsilon)

    def _layer(self, layer: Any) -> tuple[Product, Product, Any, Product, Product, Any]:
        own, out = layer.attention.self, layer.attention.output
        inner = self._product(own.query, own.key, own.value)
        outer, widen, narrow = map(self._product, (out.dense, layer.intermediate.dense, layer.output.dense))
        return inner, outer, out.LayerNorm, widen, narrow, layer.output.LayerNorm

    def _product(self, *parts: Any) -> Product:
        """The linear maps `parts`, side by side, with weights and inputs rounded to 8-bit integers."""
        bias = self._torch.cat([part.bias.detach() for part in parts])
        small, scales = rounded(self._torch.cat([part.weight.detach() for part in parts]))
        turned, scales = small.t(), scales[:, 0]
        product_of_integers = self._torch._int_mm  # noqa: SLF001  has no public name
        scaled_sum = self._torch.addcmul

        def product(values: torch.Tensor) -> torch.Tensor:
            small, each = rounded(values)
            return scaled_sum(bias, product_of_integers(small, turned) * each, scales)

        return product


def rounded(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Each row as 8-bit integers (n, m), and the value of one unit in it (n, 1)."""
    scale = values.abs().amax(dim=1, keepdim=True).clamp_min_(1e-12).div_(127)
    return (values / scale).round_().char(), scale
