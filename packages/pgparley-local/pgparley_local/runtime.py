"""llama.cpp in the few calls that the scheduler needs: its memory and C structures. For one thread."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from llguidance import LLTokenizer
from numpy.typing import NDArray

from engine.values.model_settings import EmbeddedModelSettings
from pgparley_local import library

BATCH_TOKENS = 512
"""Tokens that one call decodes at most: llama.cpp's own default for a CPU."""


_PIECE_BYTES = 256

_CHAT_ML = b"chatml"

_CONTROL, _USER_DEFINED = 1 << 3, 1 << 4
"""Attributes of a token (`llama_token_attr`)."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Tokens to decode in one sequence from `position` on; the last `logits` of them give logits."""

    sequence: int
    position: int
    tokens: Sequence[int]
    logits: int


class Runtime:
    """One loaded model and its context. Raises `OSError`."""

    def __init__(self, settings: EmbeddedModelSettings) -> None:
        self._library = lib = library.load()
        self._log = library.LogCallback(_ignore_log)
        lib.llama_log_set(self._log, None)
        lib.llama_backend_init()
        model = lib.llama_model_load_from_file(os.fsencode(settings.path), lib.llama_model_default_params())
        if not model:
            raise OSError(f"no language model could be loaded from {settings.path}")
        self._model = model
        self._vocab = lib.llama_model_get_vocab(model)
        self._context = _context(lib, model, self._parameters(settings))
        self._memory = lib.llama_get_memory(self._context)
        self._batch = lib.llama_batch_init(BATCH_TOKENS, 0, 1)
        self.cells = settings.context
        self.sequences = settings.sequences
        self.vocabulary = int(lib.llama_vocab_n_tokens(self._vocab))
        self.tokenizer = self._tokenizer()
        self.begins = (int(lib.llama_vocab_bos(self._vocab)),) * lib.llama_vocab_get_add_bos(self._vocab)
        """The token that every prompt of this model begins with, if any."""
        self._template = lib.llama_model_chat_template(model, None) or _CHAT_ML
        self.rendered([("user", "?")])

    def tokenize(self, text: str, *, special: bool = False) -> list[int]:
        """Token ids of `text`; where `special` is off, `<|im_end|>` in it is plain text, not a control token."""
        data = text.encode()
        room = len(data) + 8
        tokens = (ctypes.c_int32 * room)()
        count = self._library.llama_tokenize(self._vocab, data, len(data), tokens, room, False, special)  # noqa: FBT003
        return list(tokens[:count])

    def rendered(self, messages: Sequence[tuple[str, str]]) -> str:
        """Messages, (role, content) each, by the chat template of the model's file, open for the answer.

        ChatML where the file has none. Raises `OSError` for a template that llama.cpp does not know.
        """
        each = [library.ChatMessage(role.encode(), content.encode()) for role, content in messages]
        given = (library.ChatMessage * len(each))(*each)
        room = 4_096 + 2 * sum(len(content.encode()) for _, content in messages)
        buffer = ctypes.create_string_buffer(room)
        size = self._library.llama_chat_apply_template(
            self._template,
            given,
            len(messages),
            True,  # noqa: FBT003
            buffer,
            room,
        )
        if size < 0:
            raise OSError("the model's chat template is none that llama.cpp knows: serve it by llama-server")
        return buffer.raw[:size].decode()

    def piece(self, token: int, *, special: bool = False) -> bytes:
        """The bytes of one token; control tokens have none where `special` is off."""
        buffer = ctypes.create_string_buffer(_PIECE_BYTES)
        size = self._library.llama_token_to_piece(self._vocab, token, buffer, _PIECE_BYTES, 0, special)
        return buffer.raw[: max(size, 0)]

    def is_end(self, token: int) -> bool:
        """Whether `token` ends an answer."""
        return bool(self._library.llama_vocab_is_eog(self._vocab, token))

    def decode(self, slices: Sequence[Slice]) -> list[list[NDArray[np.float32]]]:
        """Decodes all slices; of each the logits asked for, views until the next call. Raises `MemoryError`."""
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
        if self._library.llama_decode(self._context, self._batch) != 0:
            raise MemoryError("the key-value cache is full")
        return [[self._logits(row) for row in wanted] for wanted in rows]

    def copy(self, source: int, target: int, length: int) -> None:
        """Lets `target` share the first `length` cells of `source`."""
        self._library.llama_memory_seq_cp(self._memory, source, target, 0, length)

    def truncate(self, sequence: int, length: int) -> None:
        """Forgets the cells of `sequence` from `length` on."""
        self._library.llama_memory_seq_rm(self._memory, sequence, length, -1)

    def save(self, sequence: int, tokens: Sequence[int], path: Path) -> None:
        """Writes the cells of `tokens`, with which `sequence` begins, to a file; whole or not at all."""
        part = path.with_suffix(f".{os.getpid()}.part")
        array = (ctypes.c_int32 * len(tokens))(*tokens)
        if self._library.llama_state_seq_save_file(
            self._context, os.fsencode(part), sequence, array, len(tokens)
        ):
            part.replace(path)

    def load(self, sequence: int, path: Path) -> list[int]:
        """Fills the empty `sequence` from a file; returns its tokens, none where the file does not fit."""
        array = (ctypes.c_int32 * self.cells)()
        count = ctypes.c_size_t()
        size = self._library.llama_state_seq_load_file(
            self._context, os.fsencode(path), sequence, array, self.cells, ctypes.byref(count)
        )
        return list(array[: count.value]) if size else []

    def close(self) -> None:
        """Frees the model; nothing may be called afterwards."""
        self._library.llama_batch_free(self._batch)
        self._library.llama_free(self._context)
        self._library.llama_model_free(self._model)

    def _parameters(self, settings: EmbeddedModelSettings) -> library.ContextParameters:
        threads = settings.threads or os.cpu_count() or 1
        parameters: library.ContextParameters = self._library.llama_context_default_params()
        parameters.n_ctx = settings.context
        parameters.n_batch = BATCH_TOKENS
        parameters.n_ubatch = BATCH_TOKENS
        parameters.n_seq_max = settings.sequences
        parameters.n_threads = threads
        parameters.n_threads_batch = threads
        parameters.kv_unified = True
        return parameters

    def _tokenizer(self) -> LLTokenizer:
        """The vocabulary as grammars need it; the mark 0xff before a token keeps its text from meaning it."""
        tokens = []
        for token in range(self.vocabulary):
            text = self.piece(token, special=True)
            attributes = self._library.llama_vocab_get_attr(self._vocab, token)
            named = attributes & _USER_DEFINED and text.startswith(b"<") and text.endswith(b">")
            tokens.append(b"\xff" + text if attributes & _CONTROL or named else text)
        return LLTokenizer.from_llamacpp(  # type: ignore[attr-defined,no-any-return]  # missing in its stub
            tokens=tokens,
            vocab_ptr=self._vocab,
            tokenize_fptr=ctypes.cast(self._library.llama_tokenize, ctypes.c_void_p).value,
            eos_token=self._library.llama_vocab_eos(self._vocab),
            slices=None,
        )

    def _logits(self, row: int) -> NDArray[np.float32]:
        pointer = self._library.llama_get_logits_ith(self._context, row)
        return np.ctypeslib.as_array(pointer, shape=(self.vocabulary,))


def _context(lib: ctypes.CDLL, model: int, parameters: library.ContextParameters) -> int:
    context = lib.llama_init_from_model(model, parameters)
    if not context:
        raise OSError(f"the model's context of {parameters.n_ctx} tokens could not be made: is there memory?")
    # Where the cells are not shared each sequence has a part of them: the field lies elsewhere in this library.
    if (lib.llama_n_seq_max(context), lib.llama_n_ctx_seq(context)) != (
        parameters.n_seq_max,
        lib.llama_n_ctx(context),
    ):
        raise OSError("xllamacpp is not the version that pgparley was made for: install the one it names")
    return int(context)


def _ignore_log(_level: int, _text: bytes, _data: int) -> None:
    """llama.cpp writes hundreds of lines as it loads; errors come back as return codes."""
