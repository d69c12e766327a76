"""The alerts: each fires on the series that it is about, and leads to its page, which says what to do."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT
from tests.support.monitoring import ALERTS, alerts, program

CASES = Path(__file__).with_name("alerts_test.yml")
RUNBOOKS = ROOT / "docs" / "runbooks"
NAMES = [rule["alert"] for rule in alerts()]


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


@pytest.mark.parametrize("name", NAMES)
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
    assert sorted(written) == sorted(NAMES)
    assert len(set(NAMES)) == len(NAMES)
    for page in RUNBOOKS.glob("*.md"):
        for link in re.findall(r"`(\.\./[\w/]+\.md)`", page.read_text("utf-8")):
            assert (page.parent / link).is_file(), link
