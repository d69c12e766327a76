"""Attributes of elements: their vocabulary, history and files, and that no value of what is sensitive is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import asyncpg
import pytest

from pgparley.catalog_commands import catalog_app
from schema_catalog.types import Column, Snapshot, Table, TableKind
from tests.support.commands import Run, runner
from tests.support.statements import execute_now, fetch_now

PERSON = Table("public", "person", TableKind.TABLE, (Column("name", "text"), Column("ssn", "text")))
SET = "SELECT nl_catalog.set_attribute"
EXPORTED = """\
version: 1
databases:
- name: hr
  tables:
  - schema: public
    name: person
    status: deprecated
    columns:
    - name: name
      status: preferred
      unit: letters
      time_zone: Europe/Vienna
      key: unique
    - name: ssn
      sensitivity: sensitive
"""


@pytest.fixture
def store(make_store_now: Callable[..., str]) -> str:
    """The DSN of a store that holds the database hr."""
    return make_store_now(Snapshot("hr", ("public",), (PERSON,)))


@pytest.fixture
def run(store: str) -> Run:
    return runner(catalog_app(lambda: store))


def test_attributes_stand_in_files_and_history(run: Run, store: str, tmp_path: Path) -> None:
    execute_now(
        store,
        f"{SET}('hr.person', 'status', 'deprecated')",
        f"{SET}('hr.person.name', 'status', 'preferred')",
        f"{SET}('hr.person.name', 'unit', ' letters ')",
        f"{SET}('hr.person.name', 'time_zone', 'Europe/Vienna')",
        f"{SET}('hr.person.name', 'key', 'unique')",
        f"{SET}('hr.person.ssn', 'sensitivity', 'sensitive')",
    )
    assert run("export").output == EXPORTED
    file = tmp_path / "catalog.yaml"
    file.write_text(EXPORTED, "utf-8")
    assert run("diff", str(file)).output == ""
    execute_now(
        store, f"{SET}('hr.person.name', 'unit', NULL)", f"{SET}('hr.person.name', 'status', 'deprecated')"
    )
    assert (
        run("diff", str(file)).output
        == "~ hr.public.person.name status: deprecated → preferred\n+ hr.public.person.name unit: letters\n"
    )
    assert run("import", str(file)).output.endswith("2 changes.\n")
    versions = fetch_now(
        store, "SELECT version FROM nl_catalog.history WHERE element = 'hr.public.person.name' ORDER BY 1"
    )
    execute_now(store, f"SELECT nl_catalog.restore({versions[1][0]})")
    assert fetch_now(
        store, "SELECT attributes ->> 'unit' FROM nl_catalog.said WHERE \"column\" = 'name'"
    ) == [("letters",)]
    assert fetch_now(
        store, "SELECT attributes->>'time_zone' FROM nl_catalog.columns WHERE \"column\" = 'name'"
    ) == [(None,)]


NO_ATTRIBUTES = [
    "'hr', 'status', 'preferred'",
    "'hr.person', 'unit', 'EUR'",
    "'hr.person', 'status', 'best'",
    "'hr.person.name', 'sensitivity', 'a bit'",
    "'hr.person.name', 'unit', ''",
    "'hr.person.name', 'unit', repeat('x', 41)",
    "'hr.person.name', 'unit', e'a\\nb'",
    "'hr.person.name', 'time_zone', 'Middle Earth'",
    "'hr.person.name', 'colour', 'red'",
    "'hr.person.name', NULL, 'red'",
]


def test_what_is_no_attribute_is_refused(store: str) -> None:
    for call in NO_ATTRIBUTES:
        with pytest.raises(asyncpg.InvalidParameterValueError) as refused:
            execute_now(store, f"{SET}({call})")
        assert refused.value.detail, call
        assert refused.value.hint, call
    assert fetch_now(store, "SELECT * FROM nl_catalog.history") == []


@pytest.mark.parametrize("element", ["hr.person.ssn", "hr.person"])
def test_values_of_what_is_sensitive_are_forgotten_and_never_allowed(store: str, element: str) -> None:
    both = [f"SELECT nl_catalog.allow_values('hr.person.{column}')" for column in ("name", "ssn")]
    execute_now(store, *both)
    execute_now(store, f"{SET}('{element}', 'sensitivity', 'sensitive')")
    assert ("ssn",) not in fetch_now(store, 'SELECT "column" FROM pgparley.value_column')
    assert fetch_now(store, "SELECT count(*) FROM pgparley.value_column") == [(1 if "ssn" in element else 0,)]
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match=r"values of person\.ssn are sensitive"):
        execute_now(store, both[1])
    execute_now(store, f"{SET}('{element}', 'sensitivity', NULL)", *both)
