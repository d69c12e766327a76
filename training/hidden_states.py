"""Hidden states of the model that writes: the outputs of chosen layers, read while llama.cpp evaluates a batch.

Owns the evaluation callback, the rows that it copies, and a runtime that is evaluated with it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import c_bool, c_char_p, c_size_t, c_void_p

import numpy as np
from numpy.typing import NDArray

from engine.values.model_settings import EmbeddedModelSettings
from pgparley_local.library import ContextParameters
from pgparley_local.prefix_cache import common
from pgparley_local.runtime import BATCH_TOKENS, Runtime, Slice

CB_EVAL = 88
"""Where the callback lies in `llama_context_params`."""

Callback = ctypes.CFUNCTYPE(c_bool, c_void_p, c_bool, c_void_p)
"""`ggml_backend_sched_eval_callback`: (tensor, whether it is asked if the tensor is wanted, user data)."""

_NAME = b"l_out-"

_FLOAT = 4


class StateReader:
    """Copies the last rows of the outputs of `layers`, counted from 0; raises `ValueError`: one cannot be read."""

    def __init__(self, lib: ctypes.CDLL, model: int, layers: Sequence[int]) -> None:
        for size in (lib.llama_model_n_layer, lib.llama_model_n_embd):
            size.restype, size.argtypes = ctypes.c_int32, (c_void_p,)
        # The last layer computes only what has logits.
        if not all(0 <= layer < lib.llama_model_n_layer(model) - 1 for layer in layers):
            raise ValueError(f"the model has no states of one of the layers {[*layers]}")
        self._get = lib.ggml_backend_tensor_get
        self._get.restype, self._get.argtypes = None, (c_void_p, c_void_p, c_size_t, c_size_t)
        self._name = lib.ggml_get_name
        self._name.restype, self._name.argtypes = c_char_p, (c_void_p,)
        self._places = {_NAME + str(layer).encode(): place for place, layer in enumerate(layers)}
        self._width = int(lib.llama_model_n_embd(model))
        self._span = range(0)
        self._left: set[int] = set()
        self._found = np.zeros((0, len(layers), self._width), np.float32)
        self.callback = Callback(self._evaluated)

    def want(self, span: range) -> None:
        """The rows of the next batch that are read: places of its tokens."""
        self._span = span
        self._found = np.empty((len(span), *self._found.shape[1:]), np.float32)
        self._left = set(self._places.values()) if span else set()

    def take(self) -> NDArray[np.float16]:
        """The states of the rows that were wanted, (rows, layers, width). Raises `RuntimeError`: some are missing."""
        if self._left:
            raise RuntimeError("the model has not computed the states of all layers")
        return self._found.astype(np.float16)

    def _evaluated(self, tensor: int, asked: bool, _data: int | None) -> bool:  # noqa: FBT001 - llama.cpp's own
        place = self._places.get(self._name(tensor)) if self._span else None
        if asked or place is None:
            return not asked or place is not None
        rows = np.empty((len(self._span), self._width), np.float32)
        self._get(tensor, rows.ctypes.data, self._span.start * self._width * _FLOAT, rows.nbytes)
        self._found[:, place] = rows
        self._left.discard(place)
        return True


class StateRuntime(Runtime):
    """A runtime of one sequence whose `layers` are read; raises `OSError`, and as `StateReader`."""

    def __init__(self, settings: EmbeddedModelSettings, layers: Sequence[int]) -> None:
        self._layers = layers
        self._held: Sequence[int] = ()
        super().__init__(settings)

    def states(self, tokens: Sequence[int], rows: int) -> NDArray[np.float16]:
        """Those of the last `rows` of `tokens`, (rows, layers, width). What was read before is not computed again."""
        first = len(tokens) - rows
        begin = min(common(self._held, tokens), first)
        self.truncate(0, begin)
        found = []
        for start in range(begin, len(tokens), BATCH_TOKENS):
            part = tokens[start : start + BATCH_TOKENS]
            self._reader.want(range(min(max(first - start, 0), len(part)), len(part)))
            self.decode([Slice(0, start, part, 1)])
            found.append(self._reader.take())
        self._held = tokens
        return np.concatenate(found)

    def _parameters(self, settings: EmbeddedModelSettings) -> ContextParameters:
        parameters = super()._parameters(settings)
        self._reader = StateReader(self._library, self._model, self._layers)
        called = ctypes.cast(self._reader.callback, c_void_p).value
        c_void_p.from_buffer(parameters, CB_EVAL).value = called
        return parameters
