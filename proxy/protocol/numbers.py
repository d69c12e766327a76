"""Numbers that clients write, read within limits: `int` gives up on 4,301 digits, `float` takes NaN and infinity."""

from __future__ import annotations

import re

_DECIMAL = re.compile(r"(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:e[+-]?[0-9]{1,3})?", re.IGNORECASE)


def whole(text: str, most: int) -> int | None:
    """The whole number from 1 to `most` that `text` is, in digits alone; None where it is none."""
    digits = text.lstrip("0")
    if not (text.isascii() and text.isdecimal() and 0 < len(digits) <= len(str(most))):
        return None
    return int(digits) if int(digits) <= most else None


def decimal(text: str, most: float) -> float | None:
    """The number above 0 and at most `most` that `text` is; None where it is none."""
    value = float(text) if _DECIMAL.fullmatch(text) else 0.0
    return value if 0.0 < value <= most else None
