"""Python in a process of its own: the one command line by which ours start another, pip's included."""

from __future__ import annotations

import sys


def python_command(module: str, *arguments: str) -> list[str]:
    """`python -m module arguments` where nothing but the installation says what a name is.

    Not the working directory (-P), nor PYTHONPATH and its kin (-E): whoever may write to a folder there could have put
    a module of our names into it.
    """
    return [sys.executable, "-P", "-E", "-m", module, *arguments]
