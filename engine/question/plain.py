"""Text from somebody who is not trusted, without characters that a terminal obeys or a reader does not see."""

from __future__ import annotations

import re

_BREAKS = re.compile("[\x0b\x0c\x85\u2028\u2029]")
_UNSEEN = re.compile(
    "[\x00-\x08\x0d-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Controls, marks of direction, what has no width and half characters; joiners stay: Persian and emoji are written
with them."""


def plain(text: str) -> str:
    """`text` with tabs and line feeds as its only controls. Parts of it give the parts of the whole."""
    return _UNSEEN.sub("", _BREAKS.sub(" ", text))


def excerpt(text: str, longest: int) -> str:
    """The beginning of `text`, plain and on one line, in `longest` characters at most."""
    line = " ".join(plain(text[: 8 * longest]).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"
