"""Texts to vectors with a loaded sentence-transformers model.

Owns tokenising, batches and pooling, behind one function for texts of schemas and one for questions. Schemas
are encoded once and exactly; questions are encoded while somebody waits, with products of 8-bit integers
where the processor is made for them: a question's vector then differs by a cosine of 0.998, and no measured
figure of routing fell. Remembering and locking are the encoder's (`engine.models.encoder`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.models.bert import BertPass, fits

if TYPE_CHECKING:
    import torch

Vectors = NDArray[np.float32]

_AT_ONCE = 2
"""Batches encoded at the same time: each runs on one thread of its own, since torch waits outside the lock of
the interpreter. More would take the language model's cores."""

_BLOCK = 640
"""Tokens a batch holds at most, padding included: larger ones leave the processor's cache."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text's unit vector, (d,), and those of its tokens in context, (tokens, d), less the model's marks."""

    sentence: Vectors
    tokens: Vectors


class Model(Protocol):
    """A loaded sentence model."""

    def sentences(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of schema texts, shape (len(texts), d)."""

    def questions(self, texts: Sequence[str]) -> list[Encoded]:
        """Questions with their tokens, in order."""


def wrapped(model: Any, *, batch: int) -> Model:
    """`model`: a SentenceTransformer. `batch`: texts a forward pass at most."""
    modules = list(model)
    plain = (
        [type(module).__name__ for module in modules] == ["Transformer", "Pooling", "Normalize"]
        and modules[1].pooling_mode == "mean"
        and fits(modules[0].auto_model)
    )
    return BertSentences(model, batch=batch) if plain else LibrarySentences(model, batch=batch)


class LibrarySentences:
    """Any model, run by its own library."""

    def __init__(self, model: Any, *, batch: int) -> None:
        import torch  # noqa: PLC0415  heavy: loaded with the first text

        self._torch, self._model, self._batch = torch, model, batch

    def sentences(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of schema texts, shape (len(texts), d)."""
        return np.stack([encoded.sentence for encoded in self.questions(texts)])

    def questions(self, texts: Sequence[str]) -> list[Encoded]:
        """Questions with their tokens, in order."""
        found: dict[int, Encoded] = {}
        for numbers in batches([len(text) for text in texts], texts_each=self._batch):
            with self._torch.inference_mode():
                result = self._model(self._model.preprocess([texts[number] for number in numbers]))
                pooled = self._torch.nn.functional.normalize(result["sentence_embedding"], dim=1).numpy()
                tokens = self._torch.nn.functional.normalize(result["token_embeddings"], dim=2).numpy()
            lengths = result["attention_mask"].sum(dim=1).tolist()
            for row, (number, length) in enumerate(zip(numbers, lengths, strict=True)):
                found[number] = Encoded(pooled[row], inner(tokens[row], length))
        return [found[number] for number in range(len(texts))]


class BertSentences:
    """A BERT encoder with mean pooling, as the packaged one is."""

    def __init__(self, model: Any, *, batch: int) -> None:
        import torch  # noqa: PLC0415  heavy: loaded with the first text
        from tokenizers import Tokenizer  # noqa: PLC0415  as torch

        self._torch, self._batch = torch, batch
        transformer = model[0]
        # A copy: padding and truncation are settings of the tokenizer itself, and the model keeps its own.
        self._tokenizer = Tokenizer.from_str(transformer.tokenizer.backend_tokenizer.to_str())
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(transformer.max_seq_length)
        self._exact = self._fast = BertPass(transformer.auto_model, integers=False)
        if torch.cpu._is_vnni_supported():  # noqa: SLF001  has no public name
            self._fast = BertPass(transformer.auto_model, integers=True)

    def sentences(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of schema texts, shape (len(texts), d)."""
        found: list[Vectors | None] = [None] * len(texts)
        for numbers, hidden, mask in self._passes(self._exact, texts):
            for number, vector in zip(numbers, self._pooled(hidden, mask).numpy(), strict=True):
                found[number] = vector
        return np.stack([vector for vector in found if vector is not None])

    def questions(self, texts: Sequence[str]) -> list[Encoded]:
        """Questions with their tokens, in order. What one text gives does not depend on the others."""
        found: dict[int, Encoded] = {}
        for numbers, hidden, mask in self._passes(self._fast, texts):
            pooled = self._pooled(hidden, mask).numpy()
            tokens = self._torch.nn.functional.normalize(hidden, dim=2).numpy()
            lengths = mask.sum(dim=1).tolist()
            for row, (number, length) in enumerate(zip(numbers, lengths, strict=True)):
                found[number] = Encoded(pooled[row], inner(tokens[row], length))
        return [found[number] for number in range(len(texts))]

    def _passes(
        self, forward: BertPass, texts: Sequence[str]
    ) -> Iterator[tuple[list[int], torch.Tensor, torch.Tensor]]:
        ids = [found.ids for found in self._tokenizer.encode_batch(list(texts))]
        split = batches([len(text) for text in ids], texts_each=self._batch)

        def run(numbers: list[int]) -> tuple[list[int], torch.Tensor, torch.Tensor]:
            with self._torch.inference_mode():
                padded, mask = self._padded([ids[number] for number in numbers])
                return numbers, forward(padded, None if bool(mask.all()) else mask), mask

        if len(split) == 1:
            yield run(split[0])
            return
        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="encode") as pool:
            yield from pool.map(run, split)

    def _padded(self, ids: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        longest = max(map(len, ids))
        padded = np.zeros((len(ids), longest), dtype=np.int64)
        mask = np.zeros((len(ids), longest), dtype=bool)
        for row, text in enumerate(ids):
            padded[row, : len(text)] = text
            mask[row, : len(text)] = True
        return self._torch.from_numpy(padded), self._torch.from_numpy(mask)

    def _pooled(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """The mean of a text's tokens, at unit length: what the packaged model's own last modules do."""
        summed = (hidden * mask[:, :, None]).sum(dim=1)
        return self._torch.nn.functional.normalize(summed / mask.sum(dim=1, keepdim=True), dim=1)


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
