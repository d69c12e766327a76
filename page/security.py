"""What every response of the page says to the browser, and which requests are heard at all.

Owns headers and cookies. Nothing is loaded from elsewhere, no script runs, no other site can frame the page or send its
forms.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none';"
        " frame-ancestors 'none'"
    ),
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
    "Server": "pgparley",
}

_YEAR = 31_536_000

_LOCAL = re.compile(r"/(?![/\\])[^\x00-\x20\\]*")


@dataclass(frozen=True, slots=True)
class Cookies:
    """The page's cookies. With HTTPS their names keep other hosts and plain HTTP from setting them (`__Host-`)."""

    https: bool

    @property
    def session(self) -> str:
        """The name of the session's id."""
        return self._named("session")

    @property
    def form(self) -> str:
        """The name of what a sign-in form has to repeat."""
        return self._named("form")

    def put(self, response: web.StreamResponse, name: str, value: str) -> None:
        """Sets a cookie that scripts cannot read and no other site sends, until the browser ends."""
        response.set_cookie(name, value, path="/", httponly=True, samesite="Strict", secure=self.https)

    def drop(self, response: web.StreamResponse, name: str) -> None:
        """Takes a cookie back."""
        response.del_cookie(name, path="/", httponly=True, samesite="Strict", secure=self.https)

    def _named(self, what: str) -> str:
        return f"__Host-pgparley-{what}" if self.https else f"pgparley-{what}"


def local(address: str) -> str:
    """`address` where it is one of the page's own, else that of its first page: no form leads elsewhere."""
    return address if _LOCAL.fullmatch(address) else "/"


def guarded(*, https: bool) -> Middleware:
    """The middleware that adds `HEADERS` to every response; refuses forms of other sites (403) and no text (400)."""

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            # Browsers say whence a form comes (Fetch Metadata); its token is checked besides.
            if request.method == "POST" and request.headers.get("Sec-Fetch-Site", "none") not in (
                "none",
                "same-origin",
            ):
                raise web.HTTPForbidden(text="This form is of another site.")
            await _check_text(request)
            response = await handler(request)
        except web.HTTPException as problem:
            _add_headers(problem, https=https)
            raise
        _add_headers(response, https=https)
        return response

    return guard


async def _check_text(request: web.Request) -> None:
    """Raises `web.HTTPBadRequest` where address, cookies or form hold a NUL or no UTF-8: no store takes them."""
    try:
        form = await request.post() if request.method == "POST" else {}
        sent = unquote_to_bytes(request.path_qs).decode()
        sent += "".join((*request.cookies.values(), *map(str, form.values())))
        readable = b"\0" not in sent.encode()
    except (LookupError, ValueError):
        readable = False
    if not readable:
        raise web.HTTPBadRequest(text="The request holds what is no text.")


def _add_headers(response: web.StreamResponse, *, https: bool) -> None:
    response.headers.update(HEADERS)
    if https:
        response.headers["Strict-Transport-Security"] = f"max-age={_YEAR}"
