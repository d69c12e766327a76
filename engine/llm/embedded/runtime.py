"""llama.cpp in the few calls that the scheduler needs: tokens, batches, logits, the key-value cache.

Owns the model's memory and its C structures. Not thread-safe: one thread drives it. Does not decide what to
decode; see `scheduler`.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import llama_cpp
import llguidance
import llguidance.llamacpp
import numpy as np
from numpy.typing import NDArray

from engine.llm.settings import EmbeddedModelSettings

BATCH_TOKENS = 512
"""Tokens that one call decodes at most: llama.cpp's own default for a CPU."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Tokens to decode in one sequence from `position` on; the logits of the last `logits` of them."""

    sequence: int
    position: int
    tokens: Sequence[int]
    logits: int


class Runtime:
    """One loaded model and its context. Raises `OSError` where the file is missing or no model."""

    def __init__(self, settings: EmbeddedModelSettings) -> None:
        self._log = llama_cpp.llama_log_callback(_ignore_log)
        llama_cpp.llama_log_set(self._log, ctypes.c_void_p())
        llama_cpp.llama_backend_init()
        model = llama_cpp.llama_model_load_from_file(
            os.fsencode(settings.path), llama_cpp.llama_model_default_params()
        )
        if not model:
            raise OSError(f"no language model could be loaded from {settings.path}")
        self._model = model
        self._vocab = llama_cpp.llama_model_get_vocab(model)
        self._context = llama_cpp.llama_init_from_model(model, _context_parameters(settings))
        self._memory = llama_cpp.llama_get_memory(self._context)
        self._batch = llama_cpp.llama_batch_init(BATCH_TOKENS, 0, 1)
        self.cells = settings.context
        self.sequences = settings.sequences
        self.vocabulary = int(llama_cpp.llama_vocab_n_tokens(self._vocab))
        self.tokenizer = llguidance.llamacpp.lltokenizer_from_vocab(self._vocab)

    def tokenize(self, text: str, *, special: bool = False) -> list[int]:
        """Token ids of `text`; where `special` is off, `<|im_end|>` in it is plain text, not a control token."""
        data = text.encode()
        room = len(data) + 8
        tokens = (llama_cpp.llama_token * room)()
        count = llama_cpp.llama_tokenize(self._vocab, data, len(data), tokens, room, False, special)  # noqa: FBT003
        return list(tokens[:count])

    def piece(self, token: int) -> bytes:
        """The bytes of one token; control tokens have none."""
        buffer = ctypes.create_string_buffer(256)
        size = llama_cpp.llama_token_to_piece(self._vocab, token, buffer, 256, 0, False)  # noqa: FBT003
        return buffer.raw[: max(size, 0)]

    def is_end(self, token: int) -> bool:
        """Whether `token` ends an answer."""
        return bool(llama_cpp.llama_vocab_is_eog(self._vocab, token))

    def decode(self, slices: Sequence[Slice]) -> list[list[NDArray[np.float32]]]:
        """Decodes all slices in one pass and gives, a slice each, the logits asked for, in order.

        The arrays, shape (vocabulary,), are views that the next call overwrites. Raises `MemoryError` where
        the cache has no room.
        """
        rows: list[range] = []
        at = 0
        for piece in slices:
            for offset, token in enumerate(piece.tokens):
                self._batch.token[at] = token
                self._batch.pos[at] = piece.position + offset
                self._batch.n_seq_id[at] = 1
                self._batch.seq_id[at][0] = piece.sequence
                self._batch.logits[at] = offset >= len(piece.tokens) - piece.logits
                at += 1
            rows.append(range(at - piece.logits, at))
        self._batch.n_tokens = at
        if llama_cpp.llama_decode(self._context, self._batch) != 0:
            raise MemoryError("the key-value cache is full")
        return [[self._logits(row) for row in wanted] for wanted in rows]

    def copy(self, source: int, target: int, length: int) -> None:
        """Lets `target` share the first `length` cells of `source`."""
        llama_cpp.llama_memory_seq_cp(self._memory, source, target, 0, length)

    def truncate(self, sequence: int, length: int) -> None:
        """Forgets the cells of `sequence` from `length` on."""
        llama_cpp.llama_memory_seq_rm(self._memory, sequence, length, -1)

    def save(self, sequence: int, tokens: Sequence[int], path: Path) -> None:
        """Writes the cells of `tokens`, with which `sequence` begins, to a file; whole or not at all."""
        part = path.with_suffix(f".{os.getpid()}.part")
        array = (llama_cpp.llama_token * len(tokens))(*tokens)
        if llama_cpp.llama_state_seq_save_file(
            self._context, os.fsencode(part), sequence, array, len(tokens)
        ):
            part.replace(path)

    def load(self, sequence: int, path: Path) -> list[int]:
        """Fills the empty `sequence` from a file and gives its tokens; none where the file does not fit."""
        array = (llama_cpp.llama_token * self.cells)()
        count = ctypes.c_size_t()
        size = llama_cpp.llama_state_seq_load_file(
            self._context, os.fsencode(path), sequence, array, self.cells, ctypes.byref(count)
        )
        return list(array[: count.value]) if size else []

    def close(self) -> None:
        """Frees the model; nothing may be called afterwards."""
        llama_cpp.llama_batch_free(self._batch)
        llama_cpp.llama_free(self._context)
        llama_cpp.llama_model_free(self._model)

    def _logits(self, row: int) -> NDArray[np.float32]:
        pointer = llama_cpp.llama_get_logits_ith(self._context, row)
        return np.ctypeslib.as_array(pointer, shape=(self.vocabulary,))


def _context_parameters(settings: EmbeddedModelSettings) -> llama_cpp.llama_context_params:
    threads = settings.threads or os.cpu_count() or 1
    parameters = llama_cpp.llama_context_default_params()
    parameters.n_ctx = settings.context
    parameters.n_batch = BATCH_TOKENS
    parameters.n_ubatch = BATCH_TOKENS
    parameters.n_seq_max = settings.sequences
    parameters.n_threads = threads
    parameters.n_threads_batch = threads
    parameters.kv_unified = True
    return parameters  # type: ignore[no-any-return]  # the library has no types


def _ignore_log(_level: int, _text: bytes, _data: ctypes.c_void_p) -> None:
    """llama.cpp writes hundreds of lines as it loads; what matters comes back as a return code."""
