"""Templates: text stays text, every one of them is used, and forms lead nowhere else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

import pytest
from jinja2 import UndefinedError

import page
from page.elements import Definition, Element
from page.elements import Path as ElementPath
from page.rendering import NAVIGATION, Frame, Renderer, element_address
from page.security import local
from page.server import application
from page.settings import PageSettings

FOLDER = Path(page.__file__).parent
MARKUP = "<script>alert('x')</script>\"'&"


def test_text_is_escaped_wherever_it_stands() -> None:
    element = Element(
        ElementPath("s", "p", MARKUP), MARKUP, MARKUP, MARKUP, "other " + MARKUP, (MARKUP,), hidden=True
    )
    frame = Frame(MARKUP, MARKUP, MARKUP, changes=True)
    joins = [Definition("s", MARKUP, MARKUP, MARKUP, "checked", MARKUP)]
    shown = {"element": element, "columns": [element], "keys": [], "joins": joins, "proposed": joins}
    words = [{"element": MARKUP, "phrase": MARKUP}]
    html = Renderer().page("table", frame, **shown, words=words, history=[])
    assert "<script" not in html
    assert html.count("&lt;script&gt;") > 8
    assert not re.search(r'="[^"]*\'x\'', html)


def test_templates_need_their_values_hold_no_script_and_name_elements_whole() -> None:
    with pytest.raises(UndefinedError):
        Renderer().page("search", Frame("/"))
    words = r"\| ?safe|autoescape|<script|<style| style=|javascript:|https?://"
    for file in (FOLDER / "templates").iterdir():
        assert not re.search(words, file.read_text("utf-8")), file.name
    assert not list((FOLDER / "static").glob("*.js"))
    path = ElementPath("my db", "public", "a&b", "c=d")
    assert element_address(path) == "/column?database=my+db&schema=public&table=a%26b&column=c%3Dd"
    assert element_address(ElementPath("sales")) == "/database?database=sales"


KEPT = ("/", "/health?database=a", "/table?database=a&schema=b&table=%2F%2Fc", *(to for to, _ in NAVIGATION))
LEFT = (
    *("", "//evil.example", "/\\evil.example", "https://evil.example", "javascript:x"),
    *("/a\r\nSet-Cookie: b", "/ x", "health"),
)


@pytest.mark.parametrize("address", [*KEPT, *LEFT])
def test_addresses_of_the_page_are_kept_and_others_lead_to_the_first_one(address: str) -> None:
    assert local(address) == ("/" if address in LEFT else address)


def test_every_page_is_documented() -> None:
    text = (FOLDER.parent / "docs" / "page.md").read_text("utf-8")
    for _, words in NAVIGATION:
        assert f"| {words}" in text
    settings = PageSettings("127.0.0.1:0", gateway="postgresql://127.0.0.1:6432")
    app = application("", settings, cast("Any", None), https=False)
    forms = {"/static", "/sign-out", "/words", "/do/{name}", "/ask/values", "/ask/{step}"}
    served = {resource.canonical for resource in app.router.resources() if resource.canonical not in forms}
    assert set(re.findall(r"^\| [^|]+ \| `(/[\w-]*)`", text, re.MULTILINE)) == served


def test_every_picture_stands_in_a_document() -> None:
    docs = FOLDER.parent / "docs"
    text = "".join(each.read_text("utf-8") for each in docs.glob("*.md"))
    assert [each.name for each in docs.glob("screenshots/*.png") if each.name not in text] == []
