"""An engine that answers every question at once with the same rows: `python -m benchmarks.wire.engine SOCKET`."""

from __future__ import annotations

import sys

import msgspec
from aiohttp import web

from engine.values.messages import AnswerRow, AskReply, RowKind

ROWS = tuple(
    AnswerRow(
        n=number,
        kind=RowKind.CANDIDATE,
        database="bench",
        confidence=0.9 / number,
        sql="SELECT count(*) FROM pgbench_accounts",
        explanation="How many accounts there are.",
        next=f"NL CHOOSE {number}",
        qid="q7f3",
    )
    for number in (1, 2, 3)
)
_BODY = msgspec.json.encode(AskReply("q7f3", ROWS))


async def _ask(_: web.Request) -> web.Response:
    return web.Response(body=_BODY, content_type="application/json")


def main() -> None:
    """Serves until SIGTERM."""
    app = web.Application()
    app.add_routes([web.post("/v1/ask", _ask)])
    web.run_app(app, path=sys.argv[1], print=None)


if __name__ == "__main__":
    main()
