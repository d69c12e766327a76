"""An HTTP server of ours that answers only who shows a key."""

from __future__ import annotations

import hmac
from collections.abc import Callable

from aiohttp import web
from aiohttp.typedefs import Handler


def keyed(app: web.Application, key: bytes, free: Callable[[web.Request], bool], why: str) -> web.Application:
    """`app`, which wants `key` as a bearer's token (RFC 6750), except for what is `free`; without it: 401 and `why`."""

    @web.middleware
    async def shown(request: web.Request, handler: Handler) -> web.StreamResponse:
        given = request.headers.get("Authorization", "").encode()
        if free(request) or hmac.compare_digest(given, b"Bearer " + key):
            return await handler(request)
        raise web.HTTPUnauthorized(text=why)

    app.middlewares.append(shown)
    return app
