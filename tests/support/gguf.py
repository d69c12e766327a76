"""A language model of random weights in llama.cpp's file format (GGUF 3), small enough to be made by a test."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from transformers import Qwen2Config, Qwen2ForCausalLM

_ALIGNMENT = 32
_UINT32, _INT32, _FLOAT32, _STRING, _ARRAY = 4, 5, 6, 8, 9
_CONTROL, _NORMAL = 3, 1

Value = int | float | str | Sequence[str] | Sequence[int]

_NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "model.layers": "blk",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def write_model(path: Path, model: Qwen2ForCausalLM, template: str | None = None) -> None:
    """Writes the model's weights as they are, with a vocabulary of single bytes and of `<|im_end|>`.

    `template`: of its chats.
    """
    config = model.config
    tokens = [*_byte_letters(), "<|im_end|>"]
    fields: dict[str, Value] = {
        "general.architecture": "qwen2",
        "qwen2.context_length": config.max_position_embeddings,
        "qwen2.embedding_length": config.hidden_size,
        "qwen2.block_count": config.num_hidden_layers,
        "qwen2.feed_forward_length": config.intermediate_size,
        "qwen2.attention.head_count": config.num_attention_heads,
        "qwen2.attention.head_count_kv": config.num_key_value_heads,
        "qwen2.attention.layer_norm_rms_epsilon": config.rms_norm_eps,
        "qwen2.rope.freq_base": 10_000.0,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "qwen2",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [_NORMAL] * (len(tokens) - 1) + [_CONTROL],
        "tokenizer.ggml.merges": ["a b"],
        "tokenizer.ggml.eos_token_id": len(tokens) - 1,
    }
    if template is not None:
        fields["tokenizer.chat_template"] = template
    weights = {_renamed(name): each.detach().numpy() for name, each in model.state_dict().items()}
    path.write_bytes(_file(fields, weights))


def small_model(layers: int) -> Qwen2ForCausalLM:
    """Untrained, with as many layers."""
    config = Qwen2Config(
        vocab_size=257,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
    )
    return Qwen2ForCausalLM(config).eval()


def _renamed(name: str) -> str:
    for theirs, own in _NAMES.items():
        name = name.replace(theirs, own)
    return name


def _byte_letters() -> list[str]:
    """GPT-2's letter for each byte: those that can be seen stand for themselves."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [byte for byte in range(256) if byte not in seen]
    letters = {byte: chr(byte) for byte in seen} | {byte: chr(256 + at) for at, byte in enumerate(rest)}
    return [letters[byte] for byte in range(256)]


def _file(fields: Mapping[str, Value], weights: Mapping[str, NDArray[np.float32]]) -> bytes:
    head = [struct.pack("<4sIQQ", b"GGUF", 3, len(weights), len(fields))]
    head += [_text(key) + _typed(value) for key, value in fields.items()]
    body = b""
    for name, each in weights.items():
        shape = each.shape[::-1]
        head.append(_text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(body)))
        body += _padded(each.astype("<f4").tobytes())
    return _padded(b"".join(head)) + body


def _typed(value: Value) -> bytes:
    match value:
        case int():
            return struct.pack("<II", _UINT32, value)
        case float():
            return struct.pack("<If", _FLOAT32, value)
        case str():
            return struct.pack("<I", _STRING) + _text(value)
    kind = _STRING if isinstance(value[0], str) else _INT32
    each = [_text(one) if isinstance(one, str) else struct.pack("<i", one) for one in value]
    return struct.pack("<IIQ", _ARRAY, kind, len(value)) + b"".join(each)


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % _ALIGNMENT)
