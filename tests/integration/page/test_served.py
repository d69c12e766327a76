"""`pgparley serve page` as a process of its own, and what keeps it from starting."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from pathlib import Path

import pytest
import trustme
from typer.testing import CliRunner, Result

from pgparley.cli import app
from tests.conftest import ROOT, free_port
from tests.integration.page.conftest import Visitor
from tests.support.page_site import PageSite, browser
from tests.support.parts import command


def written(folder: Path, site: PageSite, page: str) -> Path:
    file = folder / "pgparley.toml"
    engine = f'[engine]\nstore = "{site.dsn}"\nsocket = "{folder}/e.sock"\n'
    file.write_text(f"{engine}[page]\n{page}\n", encoding="utf-8")
    return file


async def test_it_serves_the_store_without_an_engine_until_it_is_told_to_end(
    site: PageSite, tmp_path: Path
) -> None:
    port = free_port()
    config = written(tmp_path, site, f'listen = "127.0.0.1:{port}"')
    process = await asyncio.create_subprocess_exec(*command(config, "serve", "page"), cwd=ROOT)
    try:
        async with browser() as http:
            visitor = Visitor(http, f"http://127.0.0.1:{port}")
            deadline = time.monotonic() + 60
            while not await _listens(port):
                assert process.returncode is None
                assert time.monotonic() < deadline
            assert (await visitor.sign_in(site.roles["admin"])).status == 303
            assert "sales" in await visitor.text("/")
            assert "the engine does not answer" in await visitor.text("/coverage")
    finally:
        process.terminate()
        assert await asyncio.wait_for(process.wait(), 20) == 0


def check(config: Path) -> Result:
    return CliRunner().invoke(app, ["--config", str(config), "check", "page", "--json"])


async def _listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        await asyncio.sleep(0.05)
        return False
    writer.close()
    await writer.wait_closed()
    return True


@pytest.mark.parametrize(
    ("page", "words", "hint"),
    [
        ("", "is no address for the page", 'listen = "127.0.0.1:6480"'),
        (
            'listen = "127.0.0.1:1"\ntls_cert_file = "/none"\ntls_key_file = "/none"',
            "cannot be used",
            "Correct",
        ),
    ],
)
async def test_what_cannot_be_served_says_what_to_change(
    site: PageSite, tmp_path: Path, page: str, words: str, hint: str
) -> None:
    config = written(tmp_path, site, page)
    serve = command(config, "serve", "page")
    done = await asyncio.to_thread(
        subprocess.run, serve, cwd=ROOT, capture_output=True, text=True, check=False
    )
    checked = await asyncio.to_thread(check, config)
    for code, said in ((done.returncode, done.stdout + done.stderr), (checked.exit_code, checked.output)):
        assert code == 1
        assert words in said
        assert hint in said.replace('\\"', '"')
        assert "Traceback" not in said


async def test_a_check_looks_at_page_and_store(site: PageSite, tmp_path: Path) -> None:
    certificate = trustme.CA().issue_cert("db.example.com")
    certificate.private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "page.pem"))
    tls = f'tls_cert_file = "{tmp_path}/page.pem"\ntls_key_file = "{tmp_path}/page.pem"'
    config = written(tmp_path, site, f'listen = "10.9.8.7:6480"\n{tls}')
    done = await asyncio.to_thread(check, config)
    found = {each["check"]: each for each in json.loads(done.output)["findings"]}
    assert found["page"]["found"] == "will listen at https://10.9.8.7:6480"
    assert found["store"]["outcome"] == "ok"
