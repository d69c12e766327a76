"""What holds a NUL, or bytes that are not UTF-8, is refused at every address of the page, and is no failure of it."""

from __future__ import annotations

import asyncio
import itertools

from yarl import URL

from page.server import application
from page.settings import PageSettings
from tests.integration.page.conftest import Visit
from tests.support.page_site import FixedEngine, PageSite

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
