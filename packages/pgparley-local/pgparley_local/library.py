"""llama.cpp's C interface as the `xllamacpp` wheel exports it: the functions that `runtime` calls, with their types.

The layout of its structures is no promise, so the wheel is pinned to one version and `Runtime` checks its context.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_bool, c_char_p, c_float, c_int8, c_int32, c_size_t, c_uint8, c_uint32, c_void_p
from importlib.util import find_spec
from pathlib import Path

_ROOM = 256
"""Bytes reserved for a structure that is passed by value: larger than each; the callee ignores the rest."""

_KV_UNIFIED = 141
"""Where this field of `llama_context_params` lies."""


SPIN = {"GOMP_SPINCOUNT": "300"}
"""How often a thread of OpenMP's looks whether the other is done before it sleeps: with the library's own 300,000 it
keeps the core that the awaited thread needs."""


class ModelParameters(ctypes.Structure):
    """`llama_model_params`, of which nothing is changed."""

    _fields_ = (("whole", c_uint8 * _ROOM),)


class ContextParameters(ctypes.Structure):
    """`llama_context_params`, as far as it is set. `kv_unified`: all sequences share the cells of the cache."""

    _fields_ = (
        ("n_ctx", c_uint32),
        ("n_batch", c_uint32),
        ("n_ubatch", c_uint32),
        ("n_seq_max", c_uint32),
        ("n_rs_seq", c_uint32),
        ("n_outputs_max", c_uint32),
        ("n_outputs_max_per_seq", c_uint32),
        ("n_threads", c_int32),
        ("n_threads_batch", c_int32),
        ("_before", c_uint8 * (_KV_UNIFIED - 36)),
        ("kv_unified", c_bool),
        ("_after", c_uint8 * (_ROOM - _KV_UNIFIED - 1)),
    )


class Batch(ctypes.Structure):
    """`llama_batch`: arrays of `n_tokens` entries, one a token."""

    _fields_ = (
        ("n_tokens", c_int32),
        ("token", POINTER(c_int32)),
        ("embd", POINTER(c_float)),
        ("pos", POINTER(c_int32)),
        ("n_seq_id", POINTER(c_int32)),
        ("seq_id", POINTER(POINTER(c_int32))),
        ("logits", POINTER(c_int8)),
    )


class ChatMessage(ctypes.Structure):
    """`llama_chat_message`."""

    _fields_ = (("role", c_char_p), ("content", c_char_p))


LogCallback = ctypes.CFUNCTYPE(None, ctypes.c_int, c_char_p, c_void_p)

_FUNCTIONS = {
    "backend_init": (None, ()),
    "log_set": (None, (LogCallback, c_void_p)),
    "model_default_params": (ModelParameters, ()),
    "model_load_from_file": (c_void_p, (c_char_p, ModelParameters)),
    "model_get_vocab": (c_void_p, (c_void_p,)),
    "model_free": (None, (c_void_p,)),
    "context_default_params": (ContextParameters, ()),
    "init_from_model": (c_void_p, (c_void_p, ContextParameters)),
    "n_ctx": (c_uint32, (c_void_p,)),
    "n_ctx_seq": (c_uint32, (c_void_p,)),
    "n_seq_max": (c_uint32, (c_void_p,)),
    "get_memory": (c_void_p, (c_void_p,)),
    "free": (None, (c_void_p,)),
    "memory_seq_cp": (None, (c_void_p, c_int32, c_int32, c_int32, c_int32)),
    "memory_seq_rm": (c_bool, (c_void_p, c_int32, c_int32, c_int32)),
    "batch_init": (Batch, (c_int32, c_int32, c_int32)),
    "batch_free": (None, (Batch,)),
    "decode": (c_int32, (c_void_p, Batch)),
    "get_logits_ith": (POINTER(c_float), (c_void_p, c_int32)),
    "vocab_n_tokens": (c_int32, (c_void_p,)),
    "vocab_eos": (c_int32, (c_void_p,)),
    "vocab_bos": (c_int32, (c_void_p,)),
    "vocab_get_add_bos": (c_bool, (c_void_p,)),
    "model_chat_template": (c_char_p, (c_void_p, c_char_p)),
    "chat_apply_template": (c_int32, (c_char_p, POINTER(ChatMessage), c_size_t, c_bool, c_char_p, c_int32)),
    "vocab_is_eog": (c_bool, (c_void_p, c_int32)),
    "vocab_get_attr": (c_int32, (c_void_p, c_int32)),
    "token_to_piece": (c_int32, (c_void_p, c_int32, c_char_p, c_int32, c_int32, c_bool)),
    "tokenize": (c_int32, (c_void_p, c_char_p, c_int32, POINTER(c_int32), c_int32, c_bool, c_bool)),
    "state_seq_save_file": (c_size_t, (c_void_p, c_char_p, c_int32, POINTER(c_int32), c_size_t)),
    "state_seq_load_file": (
        c_size_t,
        (c_void_p, c_char_p, c_int32, POINTER(c_int32), c_size_t, POINTER(c_size_t)),
    ),
}
"""Name without `llama_` → (result, arguments), from llama.h."""


def load() -> ctypes.CDLL:
    """The library; its functions keep their names. Raises `OSError` where it is not installed or cannot be loaded."""
    found = find_spec("xllamacpp")
    if found is None or found.origin is None:
        raise OSError('the model\'s runtime is not installed: pip install "pgparley[local]"')
    # Read by OpenMP as it is loaded, by this library.
    os.environ.update(SPIN | os.environ)
    try:
        library = ctypes.CDLL(str(next(Path(found.origin).parent.glob("xllamacpp*.so"))))
    except OSError as problem:
        raise OSError(
            f"the model's runtime cannot be loaded: {problem}; it needs libgomp, on Debian the package libgomp1"
        ) from problem
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, f"llama_{name}")
        function.restype, function.argtypes = result, arguments
    return library
