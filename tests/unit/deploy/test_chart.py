"""The Helm chart as Helm renders it: documents of the API, settings that are understood, ports that are served.

No cluster runs it here: what the API's schemas do not say, such as how a controller behaves, is not tested.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.app.listening import AddressSite
from engine.app.metrics import Metrics
from engine.values.errors import InvalidSettingError
from page.settings import address
from pgparley.config import Config, load
from proxy.net.access import in_the_clear
from tests.conftest import free_port
from tests.unit.deploy.chart import CHART, Document, containers, environment, helm, of_kind, pods, rendered
from tests.unit.deploy.test_containers import STAGES

PEER = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "elsewhere"}}}

EVERYTHING: dict[str, Any] = {
    "settings": {
        "gateway": {"auth_type": "scram-sha-256", "admin_users": "dba"},
        "limits": {"concurrent": 8, "run_cost": 2000000, "run_candidates": False},
    },
    "configSecret": "pgparley-config",
    "imagePullSecrets": [{"name": "registry"}],
    "gateway": {
        "workers": 2,
        "tlsSecret": "gateway-tls",
        "service": {"type": "LoadBalancer", "annotations": {"example.com/internal": "true"}},
        "pod": {"nodeSelector": {"disk": "ssd"}, "priorityClassName": "high"},
    },
    "engineAccess": {"issuer": {"name": "ca", "kind": "ClusterIssuer"}},
    "engine": {"autoscaling": {"enabled": True, "running": 3}},
    "model": {"embedded": {"enabled": True, "storageClass": "fast"}},
    "page": {"enabled": True, "tlsSecret": "page-tls"},
    "networkPolicy": {"clients": [PEER], "browsers": [PEER], "monitors": [PEER], "engines": [PEER]},
    "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
}

EXTERNAL: dict[str, Any] = {
    "gateway": {"engines": "https://a.example:6434, https://b.example:6434"},
    "engine": {"enabled": False},
    "page": {"enabled": True},
    "networkPolicy": {"engines": [{"ipBlock": {"cidr": "10.9.0.0/16"}}]},
    "serviceMonitor": {"enabled": True},
}

PLAIN: dict[str, Any] = {"engine": {"enabled": False}, "networkPolicy": {"enabled": False}}

VALUES = {
    "defaults": {},
    "everything": EVERYTHING,
    "external": EXTERNAL,
    "plain": PLAIN,
    "by processor": {"engine": {"autoscaling": {"enabled": True}}, "model": {"apiKeySecret": "vllm"}},
    "claimed": {"model": {"embedded": {"enabled": True, "existingClaim": "models"}}},
}

OTHERS = ("Certificate", "ServiceMonitor")
"""Kinds that are not the API's own: no schema of theirs is at hand."""


@pytest.fixture(params=VALUES, scope="module")
def documents(request: pytest.FixtureRequest) -> list[Document]:
    return rendered(VALUES[request.param])


def configurations(documents: list[Document], folder: Path) -> Iterator[tuple[str, Document, Config]]:
    """Each container with its part and what the program makes of image and chart together."""
    (folder / "empty.toml").touch()
    for part, pod in pods(documents).items():
        stage = STAGES["gateway" if part == "page" else part]
        image = dict(
            word.split("=", 1) for kind, text in stage.instructions if kind == "ENV" for word in text.split()
        )
        for container in containers(pod):
            yield part, container, load(folder / "empty.toml", image | environment(container))


# 1.27 is the oldest that the chart is for (Chart.yaml).
@pytest.mark.parametrize("version", ["1.27", "1.35"])
def test_every_document_is_one_of_the_api(documents: list[Document], version: str) -> None:
    validate = pytest.importorskip("kubernetes_validate").validate
    for document in documents:
        if document["kind"] not in OTHERS:
            validate(document, version, strict=True)


def test_helm_finds_nothing_to_complain_of() -> None:
    for values in VALUES.values():
        done = helm("lint", "--strict", values=values)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"gateway": {"replica": 3}}, "replica"),
        ({"gatway": {}}, "gatway"),
        ({"settings": {"limits": {"concurrent": [1]}}}, "concurrent"),
        ({"model": {"grammar": "gbnf"}}, "grammar"),
        ({"networkPolicy": {"clients": [{"podSelektor": {}}]}}, "podSelektor"),
    ],
)
def test_a_value_that_means_nothing_is_refused(values: dict[str, Any], complaint: str) -> None:
    done = helm("template", "demo", values=values)
    assert done.returncode != 0
    assert complaint in done.stderr


def test_values_and_schema_have_the_same_keys() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text("utf-8"))
    values = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))

    def compare(value: Any, kind: dict[str, Any]) -> None:
        if isinstance(value, dict) and value and "properties" in kind:
            assert value.keys() == kind["properties"].keys() - {"global"}
            for key, inner in value.items():
                compare(inner, kind["properties"][key])

    compare(values, schema)


def test_every_setting_is_understood(documents: list[Document], tmp_path: Path) -> None:
    for part, container, config in configurations(documents, tmp_path):
        ports = {each["name"]: each["containerPort"] for each in container.get("ports", [])}
        mounted = [Path(each["mountPath"]) for each in container["volumeMounts"]]
        if part == "gateway":
            assert ports["postgresql"] == config.gateway.listen_port
            assert config.gateway.prometheus_listen == f"0.0.0.0:{ports['metrics']}"
            used = [config.gateway.engine_secret_file, config.gateway.engine_ca_file]
            used += [config.gateway.engine_tls_cert_file, config.gateway.engine_tls_key_file]
            used += [config.gateway.client_tls_key_file, config.gateway.runtime_dir]
        elif part == "engine":
            assert config.engine.listen == f"0.0.0.0:{ports['engine']}"
            assert config.engine.store.startswith("postgresql://app")
            used = [config.engine.secret_file, config.engine.tls_key_file, config.engine.tls_cert_file]
            used += [str(config.engine.vectors), str(config.engine.socket)]
        elif part == "page":
            assert address(config.page).port == ports["page"]
            used = [config.page.tls_cert_file]
        else:
            assert ports.get("model", config.embedded_model.port) == config.embedded_model.port
            used = [str(config.embedded_model.path), str(config.embedded_model.prefixes)]
        for path in filter(None, used):
            assert any(Path(path).is_relative_to(folder) for folder in mounted), path


def test_settings_of_the_operator_win(tmp_path: Path) -> None:
    values = {"settings": {"gateway": {"listen_addr": "10.0.0.7"}, "limits": {"run_cost": 2000000}}}
    found = {
        part: config
        for part, container, config in configurations(rendered(values), tmp_path)
        if [each["name"] for each in container["env"]].count("PGPARLEY_GATEWAY_LISTEN_ADDR") == 1
    }
    assert found["gateway"].gateway.listen_addr == "10.0.0.7"
    assert found["engine"].limits.run_cost == 2000000


def test_gateways_ask_the_engines_of_their_release_and_lend_to_them(tmp_path: Path) -> None:
    documents = rendered({})
    (tmp_path / "secret").write_text("0123456789abcdef")
    found = {part: config for part, _, config in configurations(documents, tmp_path)}
    service = of_kind(documents, "Service")["engine"]
    name, port = service["metadata"]["name"], service["spec"]["ports"][0]["port"]
    gateway = found["gateway"].gateway
    assert {each.strip() for each in gateway.engine.split(",")} == {f"https://{name}.shop.svc:{port}"}
    assert gateway.lend_addr == "10.1.2.3"
    assert in_the_clear(gateway) == []
    policy = of_kind(documents, "NetworkPolicy")["gateway"]["spec"]["ingress"]
    lent = next(rule for rule in policy if "endPort" in rule["ports"][0])
    assert [peer["podSelector"]["matchLabels"]["app.kubernetes.io/component"] for peer in lent["from"]] == [
        "engine"
    ]


def test_pods_are_closed_off(documents: list[Document]) -> None:
    for pod in pods(documents).values():
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] == int(STAGES["gateway"].last("USER").split(":")[0])
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        # Kubernetes would set PGPARLEY_ENGINE_SERVICE_HOST and the like, which are no settings.
        assert pod["enableServiceLinks"] is False
        for container in containers(pod):
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert {"requests", "limits"} <= container["resources"].keys()
            assert {mount["name"] for mount in container["volumeMounts"]} <= {
                volume["name"] for volume in pod["volumes"]
            }


def test_secrets_stay_in_secrets(documents: list[Document]) -> None:
    assert not {"Secret", "ConfigMap"} & {each["kind"] for each in documents}
    for pod in pods(documents).values():
        for container in containers(pod):
            for each in container.get("env", []):
                if each["name"] in {"PGPARLEY_ENGINE_STORE", "PGPARLEY_MODEL_API_KEY"}:
                    assert "secretKeyRef" in each["valueFrom"]


def test_services_and_policies_find_their_pods(documents: list[Document]) -> None:
    labels = [
        each["spec"]["template"]["metadata"]["labels"] for each in documents if each["kind"] == "Deployment"
    ]
    selectors = [each["spec"]["selector"] for each in documents if each["kind"] == "Service"]
    selectors += [
        each["spec"]["podSelector"]["matchLabels"] for each in documents if each["kind"] == "NetworkPolicy"
    ]
    for selector in selectors:
        assert any(selector.items() <= own.items() for own in labels)
    for pod in pods(documents).values():
        named = {port["name"] for each in pod["containers"] for port in each["ports"]}
        probed = [
            probe[kind]["port"]
            for each in pod["containers"]
            for probe in (each.get(f"{name}Probe", {}) for name in ("startup", "liveness", "readiness"))
            for kind in ("httpGet", "tcpSocket")
            if kind in probe
        ]
        assert set(probed) <= named


def test_engines_are_scaled_by_metrics_that_they_have() -> None:
    scaler = of_kind(rendered(EVERYTHING), "HorizontalPodAutoscaler")["engine"]["spec"]
    exposed = {each.name for each in Metrics().registry.collect()}
    for metric in scaler["metrics"]:
        assert metric["pods"]["metric"]["name"] in exposed
    assert "replicas" not in of_kind(rendered(EVERYTHING), "Deployment")["engine"]["spec"]


def test_a_gateway_has_time_to_drain_and_without_engines_needs_no_secret() -> None:
    pod = pods(rendered({"gateway": {"drainSeconds": 600}}))["gateway"]
    grace = int(environment(pod["containers"][0])["PGPARLEY_GATEWAY_SHUTDOWN_GRACE"])
    # What preStop takes is part of it.
    assert pod["terminationGracePeriodSeconds"] > grace + 5 >= 600 + 5
    assert STAGES["gateway"].last("STOPSIGNAL") == "SIGINT"
    pod = pods(rendered(PLAIN))["gateway"]
    given = environment(pod["containers"][0])
    assert given["PGPARLEY_GATEWAY_ENGINE"] == ""
    assert "engine-access" not in {volume["name"] for volume in pod["volumes"]}


def test_an_engines_address_is_safe(tmp_path: Path) -> None:
    configs = {part: config for part, _, config in configurations(rendered({}), tmp_path)}
    settings = configs["engine"].engine_settings().listening
    with pytest.raises(InvalidSettingError, match="secret_file"):
        AddressSite(settings)


async def test_the_gateways_probe_is_answered_by_what_the_pod_runs(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    container = pods(rendered(PLAIN))["gateway"]["containers"][0]
    port = free_port()
    given = environment(container) | {
        "PGPARLEY_GATEWAY_LEND_ADDR": "127.0.0.1",
        "PGPARLEY_GATEWAY_LISTEN_PORT": str(port),
        "PGPARLEY_GATEWAY_PROMETHEUS_LISTEN": f"127.0.0.1:{free_port()}",
        "PGPARLEY_GATEWAY_UPSTREAM_HOST": "127.0.0.1",
        "XDG_RUNTIME_DIR": str(tmp_path_factory.mktemp("run")),  # a socket's path is short
    }
    probe = [
        sys.executable if word == "python" else word.replace("6432", str(port))
        for word in container["readinessProbe"]["exec"]["command"]
    ]
    assert await _succeeds(probe) is False
    command = [sys.executable, "-m", "pgparley.cli", *container["args"]]
    process = await asyncio.create_subprocess_exec(
        *command, env=os.environ | given, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(30):
            while not await _succeeds(probe):
                assert process.returncode is None
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(process.wait(), 20) == 0


async def _succeeds(command: list[str]) -> bool:
    process = await asyncio.create_subprocess_exec(*command, stderr=subprocess.DEVNULL)
    return await process.wait() == 0
