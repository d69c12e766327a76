"""The ranker's cross-encoder, loaded from an artifact: questions and phrases into scores.

The tuned layers take their places in a copy of the encoder. Light to import: torch comes with the first question.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine.models.bert import integer_pass
from engine.models.encoder import tuned_model
from engine.models.packaged import fill, under
from engine.values.settings import EncoderSettings

if TYPE_CHECKING:
    import torch

    from engine.models.cross_network import Heads, Pairs

    Forward: TypeAlias = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    """Token ids (b, n) and where a token is (b, n) → hidden states (b, n, d)."""

LAYERS, HEADS = "layers", "heads"
"""Prefixes of the names of an artifact's arrays."""

QUESTION_TOKENS, PAIR_TOKENS = 64, 160
"""Longer ones are truncated. A question has about twenty tokens, its statement's phrases about forty."""

Pair = tuple[str, Sequence[str]]
"""A question and a statement's phrases."""


class CrossEncoder:
    """Scores pairs; safe to call from several threads, which then take turns."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], settings: EncoderSettings | None = None) -> None:
        self._arrays = arrays
        self._settings = settings or EncoderSettings()
        self._lock = threading.Lock()
        self._built: tuple[Any, Forward, Heads] | None = None

    def scores(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """(len(pairs), 2): of the whole, of the phrases; higher is better. Raises `EncoderUnavailableError`."""
        if not pairs:
            return np.zeros((0, 2), dtype=np.float32)
        import torch  # noqa: PLC0415  heavy: loaded with the first question

        with self._lock, torch.inference_mode():
            tokenizer, read, heads = self._loaded()
            batch = tokenized(tokenizer, pairs)
            found = heads(read(batch.ids, batch.mask > 0), batch)
            return torch.stack([found.whole, found.phrase_total], dim=1).numpy()

    def _loaded(self) -> tuple[Any, Forward, Heads]:
        if self._built is None:
            from engine.models.cross_network import Heads  # noqa: PLC0415  as torch

            model, bert, _ = tuned_model(self._settings, under(LAYERS, self._arrays))
            heads = Heads(bert.config.hidden_size)
            fill(heads, under(HEADS, self._arrays))
            forward = integer_pass(bert) or _library_pass(bert)
            self._built = model.tokenizer, forward, heads.eval()
        return self._built


def _library_pass(bert: Any) -> Forward:
    return lambda ids, mask: bert(input_ids=ids, attention_mask=mask.long()).last_hidden_state


def tokenized(tokenizer: Any, pairs: Sequence[Pair]) -> Pairs:
    """The pairs as one batch, padded to the longest."""
    import torch  # noqa: PLC0415  heavy: loaded with the first question

    from engine.models.cross_network import Pairs  # noqa: PLC0415  as torch

    distinct = list(dict.fromkeys(text for question, phrases in pairs for text in (question, *phrases)))
    tokens = dict(zip(distinct, tokenizer(distinct, add_special_tokens=False)["input_ids"], strict=True))
    rows = [
        _row(tokenizer, [tokens[question], *(tokens[each] for each in phrases)])
        for question, phrases in pairs
    ]
    width = max(len(ids) for ids, _ in rows)
    ids, parts = np.zeros((len(rows), width), dtype=np.int64), np.zeros((len(rows), width), dtype=np.int64)
    mask = np.zeros((len(rows), width), dtype=np.int64)
    for number, (row, belongs) in enumerate(rows):
        ids[number, : len(row)], parts[number, : len(row)] = row, belongs
        mask[number, : len(row)] = 1
    return Pairs(torch.from_numpy(ids), torch.from_numpy(mask), torch.from_numpy(parts))


def _row(tokenizer: Any, texts: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    start, end = tokenizer.cls_token_id, tokenizer.sep_token_id
    ids, parts = [start, *texts[0][:QUESTION_TOKENS], end], [0, *[1] * len(texts[0][:QUESTION_TOKENS]), 0]
    for number, text in enumerate(texts[1:], 2):
        ids += [*text, end]
        parts += [*[number] * len(text), 0]
    return ids[:PAIR_TOKENS], parts[:PAIR_TOKENS]
