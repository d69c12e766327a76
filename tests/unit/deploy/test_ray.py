"""deploy/ray/models.yaml names what there is: every application that an engine asks for, and its deployment."""

from __future__ import annotations

import ast
from pathlib import Path

import yaml

from engine.model_serving import messages
from engine.model_serving.messages import Served

ROOT = Path(__file__).parents[3]
CODE = Path(messages.__file__).with_name("deployments.py")
FILE = yaml.safe_load((ROOT / "deploy" / "ray" / "models.yaml").read_text("utf-8"))


def test_every_application_is_there_at_its_path() -> None:
    functions = {
        node.name: node
        for node in ast.parse(CODE.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    assert [each["name"] for each in FILE["applications"]] == list(Served)
    for each in FILE["applications"]:
        name = each["name"]
        assert each["route_prefix"] == f"/{name}"
        assert each["import_path"] == f"engine.model_serving.deployments:{name}"
        (deployment,) = each["deployments"]
        assert f"_application({deployment['name']}, args)" in ast.unparse(functions[name])
        assert deployment["autoscaling_config"]["min_replicas"] == 1


def test_nobody_elsewhere_reaches_them_by_default() -> None:
    assert FILE["http_options"]["host"] == "127.0.0.1"
