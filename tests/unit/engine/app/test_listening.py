"""An engine at an address: whoever comes over TCP shows its secret, and nothing travels in the clear."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
import trustme
from aiohttp import web

from engine.app.client import EngineAddress, EngineClient
from engine.app.listening import AddressSite
from engine.values.errors import EngineLostError, InvalidSettingError, NLError
from engine.values.messages import RowSet
from engine.values.settings import ListenSettings
from tests.conftest import free_port

SECRET = "a secret of gateways and engines"


@asynccontextmanager
async def listening(settings: ListenSettings, unix: Path) -> AsyncIterator[None]:
    async def view(_: web.Request) -> web.Response:
        return web.json_response({"rows": [["seen"]]})

    async def ready(_: web.Request) -> web.Response:
        return web.Response()

    app = web.Application()
    app.router.add_post("/v1/view", view)
    app.router.add_get("/ready", ready)
    address = AddressSite(settings)
    runner = web.AppRunner(address.guarded(app))
    await runner.setup()
    await address.site(runner).start()
    await web.UnixSite(runner, str(unix)).start()
    yield
    await runner.cleanup()


@pytest.fixture
def secret_file(tmp_path: Path) -> str:
    file = tmp_path / "secret"
    file.write_text(f"{SECRET}\n", encoding="utf-8")
    return str(file)


async def seen(address: EngineAddress) -> RowSet:
    async with EngineClient(address) as client:
        return await client.view("nl_models", timeout=5.0)


async def test_the_secret_is_wanted_over_tcp_alone(secret_file: str, tmp_path: Path) -> None:
    port = free_port()
    url, unix = f"http://127.0.0.1:{port}", tmp_path / "e.sock"
    async with listening(ListenSettings(f"127.0.0.1:{port}", secret_file=secret_file), unix):
        assert (await seen(EngineAddress(url, SECRET))).rows == (("seen",),)
        assert (await seen(EngineAddress(str(unix)))).rows == (("seen",),)
        for wrong in ("", "another secret, as long as that one"):
            with pytest.raises(NLError) as refused:
                await seen(EngineAddress(url, wrong))
            assert refused.value.sqlstate == "28000"
            assert "engine_secret_file" in str(refused.value.hint)
        async with EngineClient(EngineAddress(url)) as probe:
            assert await probe.ready()
        async with aiohttp.ClientSession() as session, session.post(f"{url}/v1/view") as response:
            assert response.status == 401


async def test_another_machine_comes_by_tls(secret_file: str, tmp_path: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    made, pem = authority.issue_cert("127.0.0.1"), tmp_path / "engine.pem"
    made.private_key_and_cert_chain_pem.write_to_path(str(pem))
    port = free_port()
    settings = ListenSettings(f"0.0.0.0:{port}", str(pem), str(pem), secret_file)
    url = f"https://127.0.0.1:{port}"
    async with listening(settings, tmp_path / "e.sock"):
        assert (await seen(EngineAddress(url, SECRET, str(tmp_path / "ca.pem")))).rows == (("seen",),)
        with pytest.raises(EngineLostError) as untrusted:
            await seen(EngineAddress(url, SECRET))
    assert not untrusted.value.sent
    assert untrusted.value.detail == f"TLS: CERTIFICATE_VERIFY_FAILED at {url}."
    assert "engine_ca_file" in str(untrusted.value.hint)


@pytest.mark.parametrize("with_secret", [False, True])
async def test_each_has_the_others_certificate(
    *, with_secret: bool, secret_file: str, tmp_path: Path
) -> None:
    files = {}
    for name in ("ours", "other"):
        authority = trustme.CA()
        authority.cert_pem.write_to_path(str(tmp_path / f"{name}.ca"))
        files[name] = str(tmp_path / f"{name}.pem")
        authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(files[name])
    port, pem, ca = free_port(), files["ours"], str(tmp_path / "ours.ca")
    shown, url = SECRET if with_secret else "", f"https://127.0.0.1:{port}"
    settings = ListenSettings(f"0.0.0.0:{port}", pem, pem, secret_file if with_secret else "", ca)
    async with listening(settings, tmp_path / "e.sock"):
        assert (await seen(EngineAddress(url, shown, ca, pem, pem))).rows == (("seen",),)
        with pytest.raises(NLError) as none:
            await seen(EngineAddress(url, SECRET, ca))
        assert none.value.sqlstate == "28000"
        assert "engine_tls_cert_file" in str(none.value.hint)
        with pytest.raises(EngineLostError) as wrong:
            await seen(EngineAddress(url, SECRET, ca, files["other"], files["other"]))
        assert "tls_ca_file" in str(wrong.value.hint)
        if with_secret:
            with pytest.raises(NLError, match="secret"):
                await seen(EngineAddress(url, "", ca, pem, pem))
        # Probes have neither.
        async with EngineClient(EngineAddress(url, "", ca)) as probe:
            assert await probe.ready()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (ListenSettings("somewhere"), "no address"),
        (ListenSettings("127.0.0.1:6434"), "needs a secret"),
        (ListenSettings("127.0.0.1:6434", secret_file="/nowhere/secret"), "cannot be read"),
        (ListenSettings("10.0.0.7:6434", secret_file="{secret}"), "in the clear"),
        (ListenSettings("10.0.0.7:6434", "{secret}", "{secret}", "{secret}"), "certificate, key or auth"),
        (ListenSettings("127.0.0.1:6434", secret_file="{secret}", tls_ca_file="{secret}"), "in the clear"),
    ],
)
def test_what_would_not_be_safe_is_refused_with_what_to_do(
    settings: ListenSettings, words: str, secret_file: str
) -> None:
    fields = dataclasses.astuple(settings)
    with pytest.raises(InvalidSettingError, match=words) as refused:
        AddressSite(ListenSettings(*(each.replace("{secret}", secret_file) for each in fields)))
    assert refused.value.hint


def test_a_secret_that_can_be_guessed(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("12345", encoding="utf-8")
    with pytest.raises(InvalidSettingError, match="shorter than 16"):
        AddressSite(ListenSettings("127.0.0.1:6434", secret_file=str(file)))
