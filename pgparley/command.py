"""The console script: the command line, begun anew where nothing but the installation says what a name is.

Imports nothing before that but what Python has loaded by itself; see `engine.python_process`.
"""

import os
import sys


def main() -> None:
    """Becomes `pgparley.cli`, in the same process."""
    os.execv(sys.executable, [sys.executable, "-P", "-E", "-m", "pgparley.cli", *sys.argv[1:]])  # noqa: S606 - no shell is wanted
