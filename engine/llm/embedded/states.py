"""Hidden states of the model that writes: the outputs of chosen layers, read while llama.cpp evaluates a batch.

Owns the evaluation callback and the rows that it copies. Who asks for states, and what they say, is others'.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import c_bool, c_char_p, c_size_t, c_void_p

import numpy as np
from numpy.typing import NDArray

Callback = ctypes.CFUNCTYPE(c_bool, c_void_p, c_bool, c_void_p)
"""`ggml_backend_sched_eval_callback`: (tensor, whether it is asked if the tensor is wanted, user data)."""

_NAME = b"l_out-"

_FLOAT = 4


class StateReader:
    """Copies rows of the outputs of `layers`, counted from 0; raises `ValueError`: a layer that cannot be read."""

    def __init__(self, lib: ctypes.CDLL, model: int, layers: Sequence[int]) -> None:
        # The last layer computes only what has logits.
        if not all(0 <= layer < lib.llama_model_n_layer(model) - 1 for layer in layers):
            raise ValueError(f"the model has no states of one of the layers {[*layers]}")
        self._get = lib.ggml_backend_tensor_get
        self._get.restype, self._get.argtypes = None, (c_void_p, c_void_p, c_size_t, c_size_t)
        self._name = lib.ggml_get_name
        self._name.restype, self._name.argtypes = c_char_p, (c_void_p,)
        self._places = {_NAME + str(layer).encode(): place for place, layer in enumerate(layers)}
        self._width = int(lib.llama_model_n_embd(model))
        self._spans: Sequence[range] = ()
        self._left: set[int] = set()
        self._found = np.zeros((0, len(layers), self._width), np.float32)
        self.callback = Callback(self._evaluated)

    def want(self, spans: Sequence[range]) -> None:
        """The rows of the next batch that are read: places of its tokens, in order."""
        self._spans = [each for each in spans if each]
        self._found = np.empty((sum(map(len, spans)), *self._found.shape[1:]), np.float32)
        self._left = set(self._places.values()) if self._spans else set()

    def take(self) -> NDArray[np.float16]:
        """The states of the rows that were wanted, (rows, layers, width). Raises `RuntimeError`: some are missing."""
        if self._left:
            raise RuntimeError("the model has not computed the states of all layers")
        found, self._spans = self._found, ()
        return found.astype(np.float16)

    def _evaluated(self, tensor: int, asked: bool, _data: int | None) -> bool:  # noqa: FBT001 - llama.cpp's own
        if not self._spans:
            return not asked
        place = self._places.get(self._name(tensor))
        if asked or place is None:
            return not asked or place is not None
        size, at = self._width * _FLOAT, 0
        for span in self._spans:
            rows = np.empty((len(span), self._width), np.float32)
            self._get(tensor, rows.ctypes.data, span.start * size, rows.nbytes)
            self._found[at : at + len(span), place] = rows
            at += len(span)
        self._left.discard(place)
        return True
