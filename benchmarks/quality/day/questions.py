"""The questions over the demo's databases: an analyst's day, and what these databases do not hold."""

from __future__ import annotations

from pathlib import Path

import yaml

from benchmarks.harness.drawing import Item, read_items

HERE = Path(__file__).parent


def answered() -> list[Item]:
    """Of a day, each with its `database` and the statements that are `right`."""
    found: list[Item] = yaml.safe_load((HERE / "questions.yaml").read_text(encoding="utf-8"))
    return found


def unanswered() -> list[Item]:
    """Each with its `db` and what is `missing` there."""
    return list(read_items(HERE / "unanswerable.jsonl"))
