"""What codes stand for, by their column's description."""

from __future__ import annotations

import pytest

from engine.text.codes import meaning


@pytest.mark.parametrize(
    ("code", "description", "words"),
    [
        ("L", "size of the animal: S small, M medium, L large", "large"),
        ("S", "size of the animal: S small, M medium, L large", "small"),
        ("DN", "D day, N night, DN dawn, DK dusk", "dawn"),
        ("0", "1 = yes; 0 = no", "no"),
        ("A", "A: active, I: inactive", "active"),
        ("A", "state ('A' means active)", "active"),
        ("NV", "V verified, NV not verified", "not verified"),
        ("X", "V verified, NV not verified", ""),
        ("AAC", "MP3, AAC, AACP protected AAC", ""),
        ("E", "V verified, NV not verified", ""),
        ("A", "", ""),
    ],
)
def test_the_words_behind_a_code(code: str, description: str, words: str) -> None:
    assert meaning(code, description) == words
