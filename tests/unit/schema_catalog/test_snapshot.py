"""Snapshots: names as written, and the part that a role may read."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from schema_catalog.types import (
    Attributes,
    Column,
    Database,
    ForeignKey,
    Sensitivity,
    Snapshot,
    Table,
    TableKind,
)

PARENT = Table("public", "parent", TableKind.TABLE, (Column("id", "int"), Column("secret", "int")), ("id",))
CHILD = Table(
    "public",
    "child",
    TableKind.TABLE,
    (Column("id", "int"), Column("parent_id", "int")),
    primary_key=("id", "parent_id"),
    unique_keys=(("parent_id",),),
    foreign_keys=(ForeignKey(("parent_id",), "public", "parent", ("id",)),),
)
BOTH = Snapshot("d", ("public",), (CHILD, PARENT))


def test_what_is_hidden_takes_the_keys_along_that_name_it() -> None:
    seen = BOTH.restricted_to(frozenset({("public", "child", "id"), ("public", "child", "parent_id")}))
    assert [table.name for table in seen.tables] == ["child"]
    assert (seen.tables[0].foreign_keys, seen.tables[0].primary_key) == ((), ("id", "parent_id"))
    assert "parent'" not in str(seen).replace("parent_id", "")
    seen = BOTH.restricted_to(frozenset({("public", "child", "id"), ("public", "parent", "id")}))
    (child, _), none = seen.tables, ()
    assert child.columns == (Column("id", "int"),)
    assert child.primary_key == child.unique_keys == child.foreign_keys == none
    assert "secret" not in str(seen)


def test_what_a_model_calls_a_table_is_for_who_may_read_it_as_far_as_anybody_may() -> None:
    masked = Column("hash", "text", attributes=Attributes(sensitivity=Sensitivity.MASKED))
    called = replace(PARENT, columns=(*PARENT.columns, masked), proposed_synonyms=("secrets",))
    readable = frozenset((*called.key, name) for name in ("id", "secret"))
    snapshot = Snapshot("d", ("public",), (called,))
    assert snapshot.restricted_to(readable).tables[0].proposed_synonyms == ("secrets",)
    some = readable - {(*called.key, "secret")}
    assert "secret" not in str(snapshot.restricted_to(some))


def test_labels_are_part_of_the_fingerprint_and_of_what_is_stored() -> None:
    columns = (Column("state", "case_state", labels=("NEW", "OLD")), Column("n", "integer"))
    labelled, bare = (
        Snapshot("d", ("public",), (Table("public", "t", TableKind.TABLE, each),))
        for each in (columns, (Column("state", "case_state"),))
    )
    for each in (BOTH, labelled):
        assert msgspec.json.decode(msgspec.json.encode(each), type=Snapshot) == each
    assert labelled.fingerprint != bare.fingerprint
    # As databases of a version without labels are known by.
    assert BOTH.fingerprint == "fe5f4785fbd440b9408b91bcfe0d942a8fd7ad4d7585810bb2e696ec38456d65"


def test_a_database_does_not_show_its_connection_string() -> None:
    assert "hunter2" not in repr(Database("d", "postgresql://u:hunter2@h/d", "d", ("public",)))
