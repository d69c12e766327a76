"""What columns of JSON and of days in texts hold, as expressions that PostgreSQL takes."""

from __future__ import annotations

import json

import pytest

from engine.link.contents import PATHS, date_form, json_expressions, keys_of
from engine.values.elements import ColumnContent
from engine.write.known_text import content_text
from schema_catalog.types import Column, Snapshot, Table, TableKind


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["03.05.2026", "28.05.2026"], "DD.MM.YYYY"),
        (["28/05/2026", "01/06/2026"], "DD/MM/YYYY"),
        (["05/28/2026"], "MM/DD/YYYY"),
        (["2026-05-28"], "YYYY-MM-DD"),
        (["20260528", "20261231"], "YYYYMMDD"),
        (["3 May 2026", "28 May 2026"], "DD Mon YYYY"),
        # The fourth of March or the third of April.
        (["03/04/2026"], None),
        (["03.05.2026", "unknown"], None),
        (["3.5", "4.5"], None),
        (["1234"], None),
        ([], None),
    ],
)
def test_the_form_of_days_in_texts(texts: list[str], form: str | None) -> None:
    assert date_form(texts) == form


def test_keys_of_most_documents_come_first_with_their_types() -> None:
    documents = [
        {"heat": 21.5, "it's": "a", "door": {"open": True, "by": {"name": "x", "far": {"too": 1}}}},
        {"heat": 3, "code": 1, "tags": ["x"], "items": [{"sku": "a", "n": 2}, {"sku": "b"}], "none": None},
        {"heat": 1, "code": "b", "": 1},
    ]
    assert json_expressions(map(json.dumps, documents), "jsonb") == (
        "({}->>'heat')::numeric",
        "{}->>'code'",
        "{}->'door'->'by'->>'name'",
        "({}->'door'->>'open')::boolean",
        "{}->>'it''s'",
        "(jsonb_array_elements({}->'items')->>'n')::numeric",
        "jsonb_array_elements({}->'items')->>'sku'",
        "jsonb_array_elements_text({}->'tags')",
    )
    assert json_expressions(["[1, 2]", '"text"', "null"], "json") == ()
    wide = json.dumps({f"k{n:03}": n for n in range(2 * PATHS)})
    assert len(json_expressions([wide], "json")) == PATHS


def test_keys_are_read_back() -> None:
    assert keys_of(("({}->'door'->>'open')::boolean", "{}->>'it''s'", "to_date({}, 'DD')")) == (
        "door",
        "open",
        "it's",
    )


def test_a_prompt_names_the_column_in_its_expressions() -> None:
    columns = (Column("payload", "jsonb"), Column("due", "text"))
    shown = Snapshot("d", ("public",), (Table("public", "Report", TableKind.TABLE, columns),))
    contents = (
        ColumnContent(("public", "Report", "payload"), ("({}->>'{}')::numeric", "{}->>'b'")),
        ColumnContent(("public", "Report", "due"), ("to_date({}, 'DD.MM.YYYY')",), "DD.MM.YYYY"),
        ColumnContent(("public", "other", "due"), ("to_date({}, 'DD.MM.YYYY')",), "DD.MM.YYYY"),
    )
    text = content_text(contents, shown, frozenset({("public", "Report", "gone")}))
    assert text.splitlines()[1:3] == [
        '"Report".payload: ("Report".payload->>\'{}\')::numeric, "Report".payload->>\'b\'',
        '"Report".due: to_date("Report".due, \'DD.MM.YYYY\')',
    ]
    assert content_text(contents[1:], shown, frozenset({("public", "Report", "due")})) == ""
