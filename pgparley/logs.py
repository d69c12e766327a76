"""Structured logs: one JSON object a line, to standard error. Of an error they have its frames, never its message."""

from __future__ import annotations

import logging
import re
import sys
import traceback
from collections.abc import Iterator

import structlog

from engine.values.errors import for_log


def configure(level: str) -> None:
    """Sets up this process's logs; `level` is debug, info, warning or error."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(level),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.ExceptionRenderer(lambda told: "".join(_frames(told[1]))),
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    logging.basicConfig(handlers=[_OfLibraries()])
    # What ends this process is written so, too.
    sys.excepthook = lambda _, error, __: structlog.get_logger().critical("process failed", exc_info=error)


class _OfLibraries(logging.Handler):
    """What libraries log, to the first bracket or line: behind it asyncio puts arguments and the error itself."""

    def emit(self, record: logging.LogRecord) -> None:
        """Writes it as if it were ours."""
        event, error = re.split(r"[(\n]", record.getMessage(), maxsplit=1)[0], record.exc_info
        structlog.get_logger().log(record.levelno, event, logger=record.name, exc_info=error and error[1])


def _frames(error: BaseException) -> Iterator[str]:
    """The lines of a traceback, those of what is behind the error first."""
    for each in (*getattr(error, "exceptions", ()), error.__cause__ or error.__context__):
        if each is not None:
            yield from _frames(each)
    yield from traceback.format_tb(error.__traceback__)
    yield f"{for_log(error)}\n"
