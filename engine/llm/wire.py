"""The HTTP client by which model services are asked, which are strangers: no redirect, no cookie, no endless reply."""

from __future__ import annotations

from typing import Any

import openai

from engine.llm.reading import NoReplyError

MOST = 2_000_000
"""Bytes of a reply."""

MOST_OF_ERROR = 64_000
"""Bytes of one that tells of an error."""

_REDIRECT, _ERROR = 300, 400


class StrangersClient(openai.DefaultAsyncHttpxClient):
    """The `openai` package's own client, proxies of the environment included, behind these walls.

    Replies come as they are: what is packed small can be large.
    """

    async def send(self, request: Any, **options: Any) -> Any:
        """Raises `NoReplyError`, which the `openai` package makes the cause of its `APIConnectionError`."""
        request.headers["Accept-Encoding"] = "identity"
        response = await super().send(request, **(options | {"stream": True, "follow_redirects": False}))
        self.cookies.clear()
        try:
            body = await _body(response)
        finally:
            await response.aclose()
        headers = [
            (name, value) for name, value in response.headers.items() if name.lower() != "transfer-encoding"
        ]
        return type(response)(response.status_code, headers=headers, content=body, request=request)


async def _body(response: Any) -> bytes:
    status = response.status_code
    if _REDIRECT <= status < _ERROR:
        raise NoReplyError(f"it answered {status}, and redirects are not followed")
    if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise NoReplyError("its reply is compressed, which it was asked not to be")
    most = MOST if status < _ERROR else MOST_OF_ERROR
    body = bytearray()
    async for part in response.aiter_raw():
        body += part
        if len(body) > most and status < _ERROR:
            raise NoReplyError(f"its reply is longer than {most} bytes")
        if len(body) > most:
            return bytes(body[:most])
    return bytes(body)
