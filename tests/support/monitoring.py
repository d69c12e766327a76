"""Dashboards and alerts as tests read them, and Debian's Prometheus, which `make promtool` gets.

Owns the reading of both kinds of file and where the programs are. Starts nothing.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from pgparley.config import cache_dir
from tests.conftest import ROOT

DASHBOARDS = sorted((ROOT / "deploy" / "grafana" / "dashboards").glob("*.json"))
ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yml"


@dataclass(frozen=True, slots=True)
class Query:
    """An expression as Prometheus takes it. `shown`: the labels that the panel's legend names."""

    where: str
    expression: str
    shown: frozenset[str] = frozenset()

    @property
    def metrics(self) -> set[str]:
        """The names of ours that it reads."""
        return set(re.findall(r"\bpgparley_\w+", self.expression))


def panels(dashboard: dict[str, Any]) -> list[dict[str, Any]]:
    """The panels that show something: rows are headings."""
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def panel_queries(rate_interval: str = "5m") -> list[Query]:
    """Every query of every dashboard, with Grafana's variables filled in."""
    found = []
    for file in DASHBOARDS:
        for panel in panels(json.loads(file.read_text("utf-8"))):
            for target in panel["targets"]:
                expression = target["expr"].replace("$__rate_interval", rate_interval)
                shown = frozenset(re.findall(r"{{(\w+)}}", target["legendFormat"]))
                where = f"{file.stem}: {panel['title']}"
                found.append(Query(where, expression.replace("$instance", ".*"), shown))
    return found


def alerts() -> list[dict[str, Any]]:
    """Every alerting rule."""
    groups = yaml.safe_load(ALERTS.read_text("utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def alert_queries() -> list[Query]:
    """Every alert's expression."""
    return [Query(rule["alert"], rule["expr"]) for rule in alerts()]


def sample_names(types: Iterable[str]) -> set[str]:
    """The names of samples behind `# TYPE` lines of a page in Prometheus' text format."""
    names: set[str] = set()
    for line in types:
        _, _, name, kind = line.split()
        suffixes = ("_bucket", "_sum", "_count") if kind == "histogram" else ("",)
        names |= {name + suffix for suffix in suffixes}
    return names


def types(page: str) -> list[str]:
    """The `# TYPE` lines of a page."""
    return [line for line in page.splitlines() if line.startswith("# TYPE ")]


def program(name: str) -> Path:
    """`prometheus` or `promtool`; skips the test where it is not there."""
    found = shutil.which(name) or shutil.which(name, path=str(cache_dir() / "prometheus" / "usr" / "bin"))
    if found is None:
        pytest.skip(f"needs {name}: make promtool")
    return Path(found)
