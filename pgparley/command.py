"""The console script: the command line, begun anew in isolation; see `engine.values.python_process`. Imports little."""

import os
import sys


def main() -> None:
    """Becomes `pgparley.cli`, in the same process."""
    os.execv(sys.executable, [sys.executable, "-P", "-E", "-m", "pgparley.cli", *sys.argv[1:]])  # noqa: S606 - no shell is wanted
