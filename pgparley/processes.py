"""The processes that `pgparley serve` starts: `python -m pgparley.processes gateway|engine|model`.

Each imports what it runs and nothing else: a gateway worker pays for no engine library.
"""

from __future__ import annotations

import ctypes
import signal
import sys
from pathlib import Path

from pgparley.config import Config, load
from pgparley.logs import configure

_PR_SET_PDEATHSIG = 1


def gateway(config: Config) -> None:
    """One gateway worker."""
    from proxy.server import run_worker  # noqa: PLC0415

    run_worker(config.gateway)


def engine(config: Config) -> None:
    """The engine."""
    from engine.process import run  # noqa: PLC0415

    run(config.engine_settings())


def model(config: Config) -> None:
    """The embedded model server."""
    from engine.llm.embedded.server import run  # noqa: PLC0415

    run(config.embedded_model, config.model.model)


def main(arguments: list[str]) -> None:
    """Runs the process named by the first argument, with the configuration file named by the second, if any."""
    _end_with_parent()
    config = load(Path(arguments[1]) if len(arguments) > 1 else None)
    configure(config.gateway.log_level)
    {"gateway": gateway, "engine": engine, "model": model}[arguments[0]](config)


def _end_with_parent() -> None:
    """A child whose supervisor was killed gets SIGTERM (Linux; elsewhere it stays until it is ended by hand)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


if __name__ == "__main__":
    main(sys.argv[1:])
