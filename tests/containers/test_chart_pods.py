"""The chart's gateway, engine and page as pods: started, asked, probed, replaced."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import quote

import pytest
import trustme

from tests.containers import pods as kubelet
from tests.containers.container import PASSWORD, Container, Site, eventually, podman
from tests.unit.deploy.chart import pods, rendered

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(4000),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to a pod's group"),
]

VALUES = {"page": {"enabled": True}, "gateway": {"drainSeconds": 5}}
ENGINE = "demo-pgparley-engine.shop.svc"

MODEL = """
import json
from http.server import BaseHTTPRequestHandler, HTTPServer

class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        choice = {"index": 0, "message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        said = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        self.wfile.write(json.dumps(said).encode())

HTTPServer(("127.0.0.1", 8000), Model).serve_forever()
"""
"""A model that says yes: an engine is not ready before its model answers."""


@pytest.fixture(scope="module")
def specs() -> dict[str, Any]:
    return pods(rendered(VALUES))


@pytest.fixture(scope="module")
def running(
    site: Site, images: dict[str, str], specs: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Container]:
    site.postgres(["postgres", "vllm", ENGINE], {})
    site.psql(5432, "postgres", "CREATE DATABASE pgparley_store", "CREATE DATABASE shop")
    site.psql(5432, "shop", "CREATE TABLE orders (id int PRIMARY KEY, placed date)")
    ca = trustme.CA()
    issued = ca.issue_cert(ENGINE)
    login = f"postgres:{quote(PASSWORD, safe='')}@postgres"
    secrets = {
        "pgparley-store-app": {"uri": f"postgresql://{login}/pgparley_store"},
        "pgparley-engine-access": {"secret": "0123456789abcdef0123456789abcdef"},
        "pgparley-engine-tls": {
            "tls.crt": "".join(each.bytes().decode() for each in issued.cert_chain_pems),
            "tls.key": issued.private_key_pem.bytes().decode(),
            "ca.crt": ca.cert_pem.bytes().decode(),
        },
    }
    folder = tmp_path_factory.mktemp("pods")
    site.container("vllm", images["gateway"], "--entrypoint=python", arguments=["-I", "-c", MODEL])
    made = {}
    for name, pod in specs.items():
        image = images["gateway" if name == "page" else name]
        made[name] = kubelet.started(site, pod, image, folder, secrets)
    eventually(lambda: kubelet.passes(made["engine"], spec_of(specs, "engine"), "startupProbe"), 600)
    made["engine"].run("pgparley", "catalog", "add", "shop", "--dsn", f"postgresql://{login}/shop")
    made["engine"].run("pgparley", "catalog", "login", "shop", "*")
    return made


def spec_of(specs: dict[str, Any], name: str) -> Any:
    (spec,) = specs[name]["containers"]
    return spec


def test_every_probe_passes(running: dict[str, Container], specs: dict[str, Any]) -> None:
    for name, container in running.items():
        for probe in ("livenessProbe", "readinessProbe"):
            eventually(lambda: kubelet.passes(container, spec_of(specs, name), probe), 300)  # noqa: B023 - at once


def test_a_question_goes_over_tls_to_the_engine_which_borrows_the_session(
    site: Site, running: dict[str, Container]
) -> None:
    assert site.psql(6432, "shop", "SELECT 6 * 7").strip() == "42"
    eventually(lambda: "orders" in site.psql(6432, "shop", "NL: $$Which tables are there?$$"))
    assert "loan_refused" not in running["gateway"].log()


def test_a_pod_that_is_replaced_ends_in_its_grace_and_tells_who_still_works(
    site: Site, running: dict[str, Container], specs: dict[str, Any]
) -> None:
    working = site.asking(6432, "SELECT pg_sleep(100)")
    asleep = "SELECT count(*) FROM pg_stat_activity WHERE query ~ '^SELECT pg_sleep'"
    eventually(lambda: site.psql(5432, "postgres", asleep).strip() == "1")
    for name in ("gateway", "engine", "page"):
        spec, container = spec_of(specs, name), running[name]
        if "lifecycle" in spec:
            container.run(*spec["lifecycle"]["preStop"]["exec"]["command"])
        grace = specs[name].get("terminationGracePeriodSeconds", 30)
        podman("stop", f"--time={grace - 5}", container.name)
        assert container.ended(1) == 0
    assert "gateway shuts down" in working.communicate(timeout=20)[0]
