"""The file of what a DBA says: which YAML is taken, what errors name, and that the published schema is the format."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from schema_catalog.knowledge_files import format as file_format
from schema_catalog.knowledge_files import yaml_text
from schema_catalog.knowledge_files.facts import facts_of
from schema_catalog.knowledge_files.format import (
    Cardinality,
    ColumnBlock,
    DatabaseBlock,
    JoinBlock,
    KnowledgeFile,
    QueryBlock,
    TableBlock,
    TermBlock,
    json_schema,
    read_file,
    read_text,
    write_text,
)
from schema_catalog.knowledge_files.yaml_text import dump, parse
from schema_catalog.store import CatalogError

ROOT = Path(__file__).parents[3]
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)


def test_the_published_schema_is_that_of_the_format() -> None:
    # It refuses what reading refuses: both are made from the same types.
    packaged = Path(file_format.__file__).with_name("catalog.schema.json").read_text("utf-8")
    assert packaged == json_schema()
    definitions = msgspec.json.decode(packaged)["$defs"]
    assert set(definitions) == {
        *("KnowledgeFile", "DatabaseBlock", "TableBlock", "ColumnBlock", "JoinBlock", "TermBlock"),
        *("QueryBlock", "Cardinality", "Status", "Sensitivity", "DeclaredKey"),
    }
    blocks = [each for each in definitions.values() if "properties" in each]
    assert all(block["additionalProperties"] is False and block["required"] for block in blocks)


@given(TEXTS)
def test_a_text_comes_back_as_it_was_written(text: str) -> None:
    assert parse(dump({"key": text, "list": [text, "a"]})) == {"key": text, "list": [text, "a"]}
    assert yaml.safe_load(dump([text])) == [text]


def test_a_file_of_everything_comes_back_and_is_strictly_of_the_format_to_other_readers() -> None:
    column = ColumnBlock("no", "the number\nof the order", ("null", "1e3", "yes"), hidden=True)
    key = ("public", "orders", "no")
    content = KnowledgeFile(
        1,
        (
            DatabaseBlock("hr"),
            DatabaseBlock(
                "sales",
                "what was sold",
                ("shop",),
                hidden=True,
                tables=(TableBlock("public", "orders", columns=(column,)),),
                joins=(JoinBlock(key, ("public", "customers", "no"), Cardinality.ONE_TO_ONE),),
                terms=(TermBlock("active", "customers.status = 'A'"),),
                verified_queries=(QueryBlock("How many?", "SELECT 1", ("kpi",)),),
            ),
        ),
    )
    text = write_text(content)
    assert read_text("file", text).content == content
    assert msgspec.convert(yaml.safe_load(text), KnowledgeFile, strict=True) == content


def test_the_documented_file_is_as_export_writes_it() -> None:
    page = (ROOT / "docs" / "catalog.md").read_text("utf-8")
    (text,) = re.findall(r"^```yaml\n(version: .*?)^```", page, re.DOTALL | re.MULTILINE)
    assert write_text(read_text("catalog.yaml", text).content) == text


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "there is nothing in it"),
        ("# nothing\n", 2, "there is nothing in it"),
        ("a: &x [1]\nb: *x\n", 1, "anchors and aliases"),
        ("version: 1\ndatabases: *x\n", 2, "anchors and aliases"),
        ("a: !!python/object/apply:os.system [ls]\n", 1, "tags (!)"),
        ("version: !!int 1\n", 1, "tags (!)"),
        ("[" * 100_000, 1, "deeper than 12 levels"),
        ("- " * 50 + "a", 1, "deeper than 12 levels"),
        ("version: 1\nversion: 1\n", 2, 'the key "version" is given twice'),
        ("version: 1\n---\nversion: 1\n", 2, "a second document begins"),
        ("{[a]: b}\n", 1, "a key is a word"),
        ("a: b: c\n", 1, "this is no YAML: "),
        ("a: [\n", 2, "this is no YAML: "),
        ("a: \x01\n", 1, "this is no YAML: "),
        ('a: "\\0"\n', 1, "no text in PostgreSQL"),
        ('a: "\\ud800"\n', 1, "character"),
        ("version: 2\ndatabases: []\n", 1, "Invalid enum value"),
        ("- a\n", 1, "Expected `object`"),
        ("version: 1\n", 1, "missing required field `databases`"),
        (
            "version: 1\ndatabases:\n- name: a\n  tabels: []\n",
            4,
            "unknown field `tabels` ($.databases[0].tabels)",
        ),
        ("version: 1\ndatabases:\n- name: a\n  tables:\n", 4, "Expected `array`, got `null`"),
        (
            "version: 1\ndatabases:\n- name: a\n  joins:\n  - from: [a, b]\n    to: [a, b, c]\n",
            5,
            "of length 3",
        ),
        ("version: 1\ndatabases:\n- name: a\n  description: " + "x" * 2001, 4, "length <= 2000"),
        ("version: 1\ndatabases:\n- name: a\n  synonyms: [b, " + "x" * 61 + "]", 4, "length <= 60"),
        (f"version: 1\ndatabases:\n- name: a\n  synonyms: {['b'] * 31}", 4, "length <= 30"),
        ("version: 1\ndatabases:\n- name: a\n  <<: {hidden: true}\n", 4, "unknown field `<<`"),
    ],
)
def test_what_is_not_taken_is_named_with_its_line(
    text: str, line: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for loader in (yaml.CSafeLoader, yaml.SafeLoader):
        monkeypatch.setattr(yaml_text, "_LOADER", loader)
        with pytest.raises(CatalogError) as caught:
            read_text("sales.yaml", text)
        assert str(caught.value).startswith(f"sales.yaml, line {line}: ")
        assert message in str(caught.value)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    file = tmp_path / "sales.yaml"
    file.write_bytes(b"version: 1\ndatabases:\n- name: \xff\n")
    with pytest.raises(CatalogError, match=r"sales\.yaml, line 3: this is not UTF-8"):
        read_file(file)
    file.write_bytes(b"\xef\xbb\xbfversion: 1\r\ndatabases: []\r\n")
    assert read_file(file).content == KnowledgeFile(1, ())


def test_the_way_of_writing_means_nothing() -> None:
    key, other = ("public", "orders", "cust_no"), ("public", "customers", "no")
    ways = (
        DatabaseBlock(
            "sales",
            synonyms=("a  b", "c"),
            joins=(JoinBlock(key, other),),
            terms=(TermBlock("net ", " x "),),
            verified_queries=(QueryBlock("How  many?", "SELECT 1\n", ("b", "a")),),
        ),
        DatabaseBlock(
            "sales",
            " ",
            synonyms=("c", "a b"),
            joins=(JoinBlock(other, key, Cardinality.ONE_TO_MANY),),
            terms=(TermBlock("net", "x"),),
            verified_queries=(QueryBlock("How many?", "SELECT 1", ("a", "b", "a")),),
        ),
    )
    one, two = (sorted(facts_of(KnowledgeFile(1, (way,))), key=lambda fact: fact.key) for way in ways)
    assert one == two
    assert len(one) == 5
