"""Signing in, forms, cookies and headers of the page; what is no text is refused."""

from __future__ import annotations

import asyncio
import itertools

import pytest
from aiohttp.test_utils import TestClient, TestServer
from yarl import URL

from page.security import HEADERS
from page.server import application
from page.settings import PageSettings
from tests.integration.page.conftest import Visit
from tests.support.page_site import PASSWORD, FixedEngine, PageSite
from tests.support.statements import execute, fetch

PAGES = [
    *("/", "/search?words=net", "/health", "/questions", "/learned", "/drift", "/suggestions"),
    *("/coverage", "/database?database=sales"),
]


async def test_nobody_sees_anything_unsigned(visit: Visit) -> None:
    visitor = await visit()
    for path in (*PAGES, "/table?database=sales&schema=public&table=orders"):
        answer = await visitor.get(path)
        assert (answer.status, answer.location, answer.text.count("sales")) == (303, "/sign-in", 0), path


async def test_a_role_comes_in_with_its_password_and_goes(visit: Visit, site: PageSite) -> None:
    visitor = await visit()
    answer = await visitor.sign_in(site.roles["admin"])
    assert (answer.status, answer.location) == (303, "/")
    home = await visitor.get("/")
    assert f"{site.roles['admin']}, nl_admin" in home.text
    assert (await visitor.get("/sign-in")).location == "/"
    cookie = next(each for each in visitor.http.cookie_jar if each.key == "pgparley-session")
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Strict", "/")
    assert cookie.value not in home.text
    assert (await visitor.post("/sign-out", token="x" * 43)).status == 403
    assert (await visitor.post("/sign-out", token=await visitor.token())).location == "/sign-in"
    assert (await visitor.get("/")).status == 303


async def test_a_session_that_was_ended_is_no_session_for_who_kept_its_id(visit: Visit) -> None:
    visitor = await visit("admin")
    cookie = next(each for each in visitor.http.cookie_jar if each.key == "pgparley-session").value
    await visitor.post("/sign-out", token=await visitor.token())
    visitor.http.cookie_jar.update_cookies({"pgparley-session": cookie})
    assert (await visitor.get("/")).location == "/sign-in"


async def test_a_wrong_password_and_no_such_role_look_alike(visit: Visit, site: PageSite) -> None:
    visitor = await visit()
    wrong = await visitor.sign_in(site.roles["admin"], "wrong")
    nobody = await visitor.sign_in("nobody_at_all", "wrong")
    empty = await visitor.sign_in(site.roles["admin"], "")
    assert wrong.status == nobody.status == empty.status == 401
    assert "does not take this role and password" in wrong.text
    assert "does not take this role and password" in nobody.text
    assert "wrong" not in wrong.text
    assert (await visitor.get("/")).status == 303


async def test_a_server_that_asks_for_no_password_lets_nobody_in(visit: Visit) -> None:
    answer = await (await visit()).sign_in("postgres", "anything")
    assert answer.status == 403
    assert "without asking for the password" in answer.text


async def test_before_system_user_another_password_shows_whether_one_is_asked_for(
    visit: Visit, site: PageSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("page.sign_in._SYSTEM_USER", 99)
    visitor = await visit()
    assert "without asking for the password" in (await visitor.sign_in("postgres", "anything")).text
    assert (await visitor.sign_in(site.roles["admin"])).status == 303


async def test_a_role_without_rights_in_the_catalog_is_told_what_to_ask_for(
    visit: Visit, site: PageSite
) -> None:
    answer = await (await visit()).sign_in(site.roles["stranger"])
    assert answer.status == 403
    assert f"GRANT nl_steward TO {site.roles['stranger']}" in answer.text


async def test_attempts_that_fail_make_the_next_one_wait(visit: Visit, site: PageSite) -> None:
    visitor = await visit()
    answers = [await visitor.sign_in(site.roles["steward"], "wrong") for _ in range(4)]
    assert [each.status for each in answers] == [401, 401, 401, 429]
    right = await visitor.sign_in(site.roles["steward"])
    assert right.status == 429
    assert int(dict(right.headers)["Retry-After"]) >= 1


async def test_a_sign_in_form_of_another_site_is_not_heard(visit: Visit, site: PageSite) -> None:
    visitor = await visit()
    login = {"role": site.roles["admin"], "password": PASSWORD}
    assert (await visitor.post("/sign-in", **login)).status == 403
    assert (await visitor.post("/sign-in", **login, token="made up")).status == 403
    elsewhere = {"Sec-Fetch-Site": "cross-site"}
    token = await visitor.token("/sign-in")
    assert (await visitor.post("/sign-in", elsewhere, **login, token=token)).status == 403
    assert (await visitor.get("/")).status == 303


async def test_a_form_without_the_sessions_token_changes_nothing(visit: Visit, site: PageSite) -> None:
    visitor, other = await visit("admin"), await visit("steward")
    fields = {"element": "sales.orders", "description": "changed", "back": "/"}
    for token in ("", "x", await other.token()):
        assert (await visitor.post("/do/describe", **fields, token=token)).status == 403
    forged = {"Sec-Fetch-Site": "same-site"}
    assert (await visitor.post("/do/describe", forged, **fields, token=await visitor.token())).status == 403
    assert await fetch(site.dsn, "SELECT FROM nl_catalog.history") == []


async def test_every_response_has_the_headers(visit: Visit) -> None:
    for visitor in (await visit(), await visit("admin")):
        for path in (*PAGES, "/sign-in", "/nowhere", "/static/page.css", "/column?database=x"):
            headers = dict((await visitor.get(path)).headers)
            assert HEADERS.items() <= headers.items(), path
            assert "Strict-Transport-Security" not in headers, path
    assert "unsafe" not in HEADERS["Content-Security-Policy"]


async def test_with_https_cookies_are_for_https_alone(site: PageSite) -> None:
    app = application(site.dsn, PageSettings("127.0.0.1:0"), FixedEngine(), https=True)
    async with TestClient(TestServer(app)) as client:
        answer = await client.get("/sign-in")
        assert "Strict-Transport-Security" in answer.headers
        cookie = answer.cookies["__Host-pgparley-form"]
        assert (cookie["secure"], cookie["httponly"], cookie["path"]) == (True, True, "/")


async def test_a_form_leads_back_to_the_page_alone(visit: Visit) -> None:
    visitor = await visit("admin")
    for back in (
        "https://elsewhere.example/",
        "//elsewhere.example",
        "/\\elsewhere.example",
        "javascript:alert(1)",
    ):
        answer = await visitor.do("hide", back, element="sales.orders")
        assert (answer.status, answer.location) == (303, "/")


async def test_a_connection_that_is_cut_ends_the_session(visit: Visit, site: PageSite) -> None:
    visitor = await visit("admin")
    theirs = f"usename = '{site.roles['admin']}'"
    await execute(site.dsn, f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {theirs}")
    first = await visitor.get("/")
    assert first.status in (303, 503)
    assert (await visitor.get("/")).location == "/sign-in"


NO_TEXT = ("%00", "a%00b", "%FF", "%C3%28", "%ED%A0%80")

PARAMETERS = ("database", "schema", "table", "column", "words", "unknown")


def addresses() -> list[tuple[str, str]]:
    """(method, address) of every route."""
    app = application("postgresql://nowhere", PageSettings("127.0.0.1:0"), FixedEngine(), https=False)
    found = {(route.method, route.resource.canonical) for route in app.router.routes() if route.resource}
    paths = [(method, path) for method, path in found if method != "HEAD" and "{" not in path]
    assert len(paths) > 13
    return sorted([*paths, ("POST", "/do/describe"), ("GET", "/static/page.css")])


async def test_an_address_that_is_no_text_is_refused(visit: Visit) -> None:
    admin = await visit("admin")
    found = {}
    for given, (method, path) in itertools.product(NO_TEXT, addresses()):
        whole = dict.fromkeys(PARAMETERS, "a")
        for name in PARAMETERS:
            query = "&".join(f"{key}={value}" for key, value in {**whole, name: given}.items())
            for address in (f"{path}?{query}", f"{path}?{given}=1", f"{path.rstrip('/')}/{given}"):
                url = URL(admin.url + address, encoded=True)
                async with admin.http.request(method, url, allow_redirects=False) as response:
                    found[method, address] = response.status
    assert {sent: status for sent, status in found.items() if status not in {400, 404}} == {}
    assert (await admin.get("/search?words=orders")).status == 200


FORMS = [
    (b"token=%00", "application/x-www-form-urlencoded"),
    (b"token=\xff", "application/x-www-form-urlencoded"),
    (b"token=a", "application/x-www-form-urlencoded; charset=nothing"),
    (b"token=a", "multipart/form-data"),
    (b"token=a", "multipart/form-data; boundary=x"),
    (
        b'--x\r\nContent-Disposition: form-data; name="token"\r\n\r\n\xff\x00\r\n--x--\r\n',
        "multipart/form-data; boundary=x",
    ),
]


async def test_a_form_that_is_no_text_is_refused(visit: Visit) -> None:
    admin = await visit("admin")
    paths = [path for method, path in addresses() if method == "POST"]
    for (sent, kind), path in itertools.product(FORMS, paths):
        headers = {"Content-Type": kind}
        async with admin.http.post(admin.url + path, data=sent, headers=headers) as response:
            assert response.status == 400, (sent, kind, path)


async def test_a_field_with_a_nul_is_refused_with_the_token_in_order(visit: Visit) -> None:
    done = await (await visit("admin")).do("describe", element="sales.public.orders\0", description="x")
    assert done.status == 400


async def test_a_cookie_that_is_no_text_is_refused(site: PageSite) -> None:
    where = URL(site.url)
    reader, writer = await asyncio.open_connection(where.host, where.port)
    writer.write(
        b"POST /sign-in HTTP/1.1\r\nHost: x\r\nCookie: pgparley-form=\xff\r\nConnection: close\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 6\r\n\r\nrole=a"
    )
    assert b" 400 " in await reader.readline()
    writer.close()
    await writer.wait_closed()
