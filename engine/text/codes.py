"""What a code stands for, by what is said of the column that holds it."""

from __future__ import annotations

import re


def meaning(code: str, description: str) -> str:
    """The words behind `code` in a description that lists codes, empty without them: of `L`, "large".

    Of "size of the animal: S small, M medium, L large", "1 = yes; 0 = no" or "A: active, I: inactive".
    """
    found = re.search(
        rf"(?:^|[,;:(]\s*)(['\"]?){re.escape(code)}\1\s*(?:[=:\u2013-]|\bis\b|\bmeans\b|\bfor\b)?\s*([^,;:)]*)",
        description,
    )
    return found[2].strip() if found else ""
