"""Which models are searched rather than asked for readings: those whose name tells that they are small."""

from __future__ import annotations

import pytest

from engine.values.model_settings import ModelSettings, Provider


@pytest.mark.parametrize(
    ("name", "small"),
    [
        ("qwen2.5-coder-1.5b-instruct-q4_k_m", True),
        ("meta-llama/Llama-3.2-3B-Instruct", True),
        ("qwen3:4b", True),
        ("Qwen/Qwen2.5-Coder-7B-Instruct", False),
        ("qwen3-30b-a3b", False),
        ("mixtral-8x7b", False),
        ("llama-3.3-70b-versatile", False),
        ("gpt-4o-mini", False),
        ("claude-opus-4-6", False),
    ],
)
def test_by_the_name(name: str, *, small: bool) -> None:
    assert ModelSettings(model=name).small is small
    assert ModelSettings(provider=Provider.AZURE, deployment=name).small is small
