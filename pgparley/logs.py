"""Structured logs: one JSON object a line, to standard error."""

from __future__ import annotations

import sys

import structlog


def configure(level: str) -> None:
    """Sets up this process's logs; `level` is debug, info, warning or error."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(level),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
