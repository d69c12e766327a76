"""Signing in and out. Passwords go to PostgreSQL and nowhere else."""

from __future__ import annotations

import asyncio
import hmac
import math
import secrets
from dataclasses import dataclass

from aiohttp import web

from page.desk import Desk, log
from page.rendering import Frame
from page.sign_in import Credentials, SignInError, WrongLoginError, sign_in


@dataclass(frozen=True, slots=True)
class Doors:
    """The forms of signing in and out."""

    desk: Desk

    async def show(self, request: web.Request) -> web.Response:
        """The form; who is signed in already is led on."""
        name = request.cookies.get(self.desk.cookies.session, "")
        if self.desk.sessions.find(name, asyncio.get_running_loop().time()) is not None:
            raise web.HTTPSeeOther("/")
        return self._form()

    async def enter(self, request: web.Request) -> web.StreamResponse:
        """Signs in, or shows the form with what is wrong."""
        form = await request.post()
        role, password, token = (str(form.get(name, "")) for name in ("role", "password", "token"))
        expected = request.cookies.get(self.desk.cookies.form, "")
        if not expected or not hmac.compare_digest(token.encode(), expected.encode()):
            return self._form(role, "The form was too old.", "Try again.", status=403)
        role, address, now = role.strip(), request.remote or "", asyncio.get_running_loop().time()
        if wait := self.desk.attempts.wait(role, address, now):
            response = self._form(
                role, "Too many attempts have failed.", f"Wait {math.ceil(wait)} seconds.", status=429
            )
            response.headers["Retry-After"] = str(math.ceil(wait))
            return response
        self.desk.attempts.begun(role, address, now)
        try:
            signed = await sign_in(self.desk.store, Credentials(role, password))
        except SignInError as problem:
            if not isinstance(problem, WrongLoginError):
                self.desk.attempts.succeeded(role, address)
            log.warning("page sign-in failed", address=address, error=type(problem).__name__)
            status = 401 if isinstance(problem, WrongLoginError) else 403
            return self._form(role, str(problem), problem.hint, status=status)
        self.desk.attempts.succeeded(role, address)
        log.info("page signed in", role=role)
        await self.desk.sessions.end(request.cookies.get(self.desk.cookies.session, ""))
        response = web.Response(status=303, headers={"Location": "/"})
        self.desk.cookies.put(
            response, self.desk.cookies.session, await self.desk.sessions.begin(signed, now)
        )
        self.desk.cookies.drop(response, self.desk.cookies.form)
        return response

    async def leave(self, request: web.Request) -> web.StreamResponse:
        """Signs out."""
        session = self.desk.session(request)
        if not session.owns(str((await request.post()).get("token", ""))):
            raise web.HTTPForbidden(text="This form is not of your session.")
        await self.desk.sessions.end(request.cookies[self.desk.cookies.session])
        response = web.Response(status=303, headers={"Location": "/sign-in"})
        self.desk.cookies.drop(response, self.desk.cookies.session)
        return response

    def _form(self, role: str = "", problem: str = "", hint: str = "", *, status: int = 200) -> web.Response:
        token = secrets.token_urlsafe(32)
        text = self.desk.renderer.page(
            "sign_in", Frame("/sign-in"), token=token, role=role, problem=problem, hint=hint
        )
        response = web.Response(text=text, content_type="text/html", status=status)
        self.desk.cookies.put(response, self.desk.cookies.form, token)
        return response
