"""Texts to vectors with a loaded sentence-transformers model. Owns batches, and which pass reads them.

Schemas' texts are encoded once and exactly; questions with products of 8-bit integers where the processor is made for
them, which costs a cosine of 0.002 and no measured figure of routing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.models.bert import IntegerPass, integer_pass

Vectors = NDArray[np.float32]

_AT_ONCE = 2
"""Batches encoded at the same time: each runs on one thread of its own, since torch waits outside the lock of
the interpreter. More would take the language model's cores."""

_BLOCK = 640
"""Tokens a batch holds at most, padding included: larger ones leave the processor's cache."""

_CHARACTERS = 4
"""Of a token, about."""


Encoded = tuple[Vectors, Vectors]
"""A text's unit vector, (d,), and those of its tokens in context, (tokens, d), without [CLS] and [SEP]."""


class SentenceModel:
    """A loaded SentenceTransformer. `batch`: texts a forward pass at most."""

    def __init__(self, model: Any, *, batch: int) -> None:
        modules = list(model)
        mean_pooled = [type(module).__name__ for module in modules] == ["Transformer", "Pooling", "Normalize"]
        mean_pooled = mean_pooled and modules[1].pooling_mode == "mean"
        self._integers = integer_pass(modules[0].auto_model) if mean_pooled else None
        self._model, self._batch = model, batch

    def sentences(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of schema texts, shape (len(texts), d); at least one text."""
        found = {number: sentence for number, (sentence, _) in self._encoded(texts, None)}
        return np.stack([found[number] for number in range(len(texts))])

    def questions(self, texts: Sequence[str]) -> list[Encoded]:
        """Questions with their tokens, in order. A text's vectors do not depend on the others."""
        found = dict(self._encoded(texts, self._integers))
        return [found[number] for number in range(len(texts))]

    def _encoded(self, texts: Sequence[str], integers: IntegerPass | None) -> Iterator[tuple[int, Encoded]]:
        """(number of a text, its vectors), in no order; `integers` None: by the library's pass."""
        split = batches([len(text) // _CHARACTERS for text in texts], texts_each=self._batch)
        # The tokenizer is not for several threads.
        read = self._model.preprocess if integers is None else self._tokenized
        inputs = (read([texts[number] for number in numbers]) for numbers in split)
        if len(split) == 1:
            yield from zip(split[0], self._forward(next(inputs), integers), strict=True)
            return
        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="encode") as pool:
            for numbers, found in zip(
                split, pool.map(lambda each: self._forward(each, integers), inputs), strict=True
            ):
                yield from zip(numbers, found, strict=True)

    def _tokenized(self, texts: Sequence[str]) -> dict[str, Any]:
        """As the library's `preprocess`, which takes longer to arrange it than the tokenizer to do it."""
        import torch  # noqa: PLC0415  as in `_forward`

        tokenizer = self._model.tokenizer
        backend = tokenizer.backend_tokenizer
        backend.no_padding()
        backend.enable_truncation(self._model.max_seq_length)
        found = [each.ids for each in backend.encode_batch(list(texts))]
        ids = np.full((len(found), max(map(len, found))), tokenizer.pad_token_id, dtype=np.int64)
        mask = np.zeros(ids.shape, dtype=np.int64)
        for row, numbers in enumerate(found):
            ids[row, : len(numbers)] = numbers
            mask[row, : len(numbers)] = 1
        return {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask)}

    def _forward(self, inputs: Any, integers: IntegerPass | None) -> list[Encoded]:
        import torch  # noqa: PLC0415  heavy: loaded with the first text

        mask = inputs["attention_mask"]
        with torch.inference_mode():
            if integers is None:
                result = self._model(inputs)
                tokens, pooled = result["token_embeddings"], result["sentence_embedding"]
            else:
                tokens = integers(inputs["input_ids"], mask > 0)
                pooled = (tokens * mask[:, :, None]).sum(dim=1) / mask.sum(dim=1, keepdim=True)
            normalize = torch.nn.functional.normalize
            vectors, words = normalize(pooled, dim=1).numpy(), normalize(tokens, dim=2).numpy()
        lengths = mask.sum(dim=1).tolist()
        return [(vectors[row], inner(words[row], length)) for row, length in enumerate(lengths)]


def inner(tokens: Vectors, length: int) -> Vectors:
    """The rows of a text's words: the first token is [CLS] and the last [SEP], which stand for no word."""
    return tokens[1 : max(2, length - 1)]


def batches(lengths: Sequence[int], *, texts_each: int) -> list[list[int]]:
    """Numbers of texts of like length: a batch costs what its longest text costs, times its texts."""
    split: list[list[int]] = []
    for number in sorted(range(len(lengths)), key=lambda number: lengths[number]):
        # Ascending: the text to add is the longest so far.
        if not split or len(split[-1]) >= min(texts_each, max(1, _BLOCK // max(1, lengths[number]))):
            split.append([])
        split[-1].append(number)
    return split
