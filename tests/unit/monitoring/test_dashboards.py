"""Dashboards and alerts: queries parse, over metrics that exist; each alert fires on its series and has its page."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import generate_latest

from engine.app.metrics import Metrics
from proxy.metrics import GatewayMetrics, exposition
from tests.conftest import ROOT
from tests.support.monitoring import (
    ALERTS,
    DASHBOARDS,
    Query,
    alert_queries,
    alerts,
    panel_queries,
    panels,
    program,
    sample_names,
    types,
)

QUERIES = [*panel_queries(), *alert_queries()]
REGISTRIES = (GatewayMetrics().registry, Metrics().registry)
EXPOSED = sample_names(types(b"".join([exposition([]), *map(generate_latest, REGISTRIES)]).decode()))

boards = pytest.mark.parametrize("file", DASHBOARDS, ids=lambda file: file.stem)


def read(file: Path) -> dict[str, Any]:
    dashboard: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return dashboard


def test_there_is_one_for_the_gateway_the_engine_and_the_answers() -> None:
    assert [file.stem for file in DASHBOARDS] == ["answers", "engine", "gateway"]
    assert len({read(file)["uid"] for file in DASHBOARDS}) == len(DASHBOARDS)


@boards
def test_a_panel_says_what_it_shows_and_what_is_asked_for_it(file: Path) -> None:
    dashboard = read(file)
    for panel in panels(dashboard):
        assert panel["title"]
        assert panel["description"].endswith(".")
        assert panel["fieldConfig"]["defaults"]["unit"]
        assert panel["datasource"]["uid"] == "${datasource}"
        assert [target["refId"] for target in panel["targets"]] == list("ABC")[: len(panel["targets"])]
        assert all("$instance" in target["expr"] for target in panel["targets"])
    assert len({panel["title"] for panel in panels(dashboard)}) == len(panels(dashboard))
    assert {each["name"] for each in dashboard["templating"]["list"]} == {"datasource", "instance"}


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.where)
def test_a_query_reads_metrics_that_exist(query: Query) -> None:
    assert query.metrics <= EXPOSED
    assert query.metrics or "up{" in query.expression


def test_every_query_parses(tmp_path: Path) -> None:
    rules = [{"record": f"query:{number}", "expr": query.expression} for number, query in enumerate(QUERIES)]
    file = tmp_path / "rules.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "queries", "rules": rules}]}), encoding="utf-8")
    done = subprocess.run(  # noqa: S603
        [program("promtool"), "check", "rules", str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(QUERIES)} rules found" in done.stdout


def test_every_metric_is_looked_at_by_somebody() -> None:
    def families(names: set[str]) -> set[str]:
        return {re.sub(r"_(bucket|sum|count)$", "", name) for name in names}

    created = {name for name in EXPOSED if name.endswith("_created")}
    used = set().union(*(query.metrics for query in QUERIES))
    assert families(EXPOSED - created) == families(used)


CASES = Path(__file__).with_name("alerts_test.yml")
RUNBOOKS = ROOT / "docs" / "runbooks"
ALERT_NAMES = [rule["alert"] for rule in alerts()]


def expectations() -> list[dict[str, Any]]:
    tests = yaml.safe_load(CASES.read_text("utf-8"))["tests"]
    return [expected for test in tests for expected in test["alert_rule_test"]]


def test_the_rules_are_well_formed() -> None:
    done = subprocess.run(  # noqa: S603
        [program("promtool"), "check", "rules", str(ALERTS)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_fires_as_its_case_says() -> None:
    done = subprocess.run(  # noqa: S603
        [program("promtool"), "test", "rules", str(CASES)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ALERT_NAMES)
def test_each_has_a_case_in_which_it_fires(name: str) -> None:
    assert [each for each in expectations() if each["alertname"] == name and each.get("exp_alerts")]


@pytest.mark.parametrize("rule", alerts(), ids=lambda rule: rule["alert"])
def test_each_leads_to_its_runbook(rule: dict[str, Any]) -> None:
    path, _, anchor = rule["annotations"]["runbook_url"].partition("#")
    assert anchor == rule["alert"].lower()
    text = (ROOT / path).read_text("utf-8")
    section = text.partition(f"## {rule['alert']}\n")[2].partition("\n## ")[0]
    assert re.findall(r"^\*\*(\w+):\*\*", section, re.MULTILINE) == ["Means", "See", "Do"]
    assert rule["labels"]["severity"] in ("critical", "warning", "info")


def test_each_runbook_is_of_an_alert_and_what_it_names_exists() -> None:
    written = [
        name
        for page in sorted(RUNBOOKS.glob("*.md"))
        for name in re.findall(r"^## (\w+)$", page.read_text("utf-8"), re.MULTILINE)
    ]
    assert sorted(written) == sorted(ALERT_NAMES)
    assert len(set(ALERT_NAMES)) == len(ALERT_NAMES)
    for page in RUNBOOKS.glob("*.md"):
        for link in re.findall(r"`(\.\./[\w/]+\.md)`", page.read_text("utf-8")):
            assert (page.parent / link).is_file(), link
