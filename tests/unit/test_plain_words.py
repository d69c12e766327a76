"""The documents: short sentences, none of our worst turns, no more words than agreed, no link that leads nowhere."""

from __future__ import annotations

import re
import statistics
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT

PAGES = [
    *sorted((ROOT / "docs").rglob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *(ROOT / "benchmarks" / name for name in ("README.md", "real/README.md")),
]
pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())

MOST_WORDS, MOST_IN_A_SENTENCE, MEDIAN = 28_000, 35, 16

TURNS = (
    r"bar (translations|that|those)",
    r"be it ",
    r"but for what",
    r"in so far as",
    r"is none of",
    r"is hardly",
    r"less those that",
    r"none of these:",
    r"of those whose",
    r"or those of",
    r"say(s)? something (likelier|less likely)",
    r"than what",
    r"that, and what is",
    r"then, which are",
    r"to be had",
    r"what (of|about) it is",
    r"what refers to",
    r"what was found is",
    r"where so few",
    r"which are those",
    r"went astray",
    r"whatever it is that",
)
"""What had to be read twice, in documents and docstrings that were reviewed."""

_FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


def words(text: str) -> int:
    """Those with a letter or a digit: neither bars of a table nor frames of one."""
    return sum(bool(re.search(r"\w", each)) for each in text.split())


def prose(text: str) -> str:
    """Without blocks of code, tables and headings; a link is its words, and code in a line one word."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`\n]*`", "X", _FENCE.sub("\n", text)))
    return "\n".join(line for line in text.splitlines() if not line.startswith(("|", "#")))


def sentences(text: str) -> list[str]:
    items = re.split(r"\n\s*\n|\n(?=\s*[-*] |\s*\d+\. )", prose(text))
    return [
        sentence
        for item in items
        for sentence in re.split(r"(?<=[.!?:])\s+(?=[A-Z*\u201c\"(])", item.strip())
        if words(sentence)
    ]


def anchors(page: Path) -> set[str]:
    """Of its headings, as mkdocs and GitHub make them."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("\n", page.read_text("utf-8")), re.MULTILINE)
    plain = (re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in headings)
    return {re.sub(r"\s", "-", each) for each in plain}


@pages
def test_its_sentences_are_short(page: Path) -> None:
    lengths = {sentence: words(sentence) for sentence in sentences(page.read_text("utf-8"))}
    assert [each for each, length in lengths.items() if length > MOST_IN_A_SENTENCE] == []
    assert statistics.median(lengths.values()) <= MEDIAN


@pages
def test_nothing_has_to_be_read_twice(page: Path) -> None:
    text = " ".join(prose(page.read_text("utf-8")).lower().split())
    assert [turn for turn in TURNS if re.search(rf"\b{turn}", text)] == []


@pages
def test_its_links_lead_somewhere(page: Path) -> None:
    for target in _LINK.findall(_FENCE.sub("\n", page.read_text("utf-8"))):
        path, _, anchor = target.partition("#")
        if "://" in target:
            continue
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


def test_there_are_no_more_words_than_agreed() -> None:
    assert sum(words(page.read_text("utf-8")) for page in PAGES) <= MOST_WORDS


def test_the_site_has_every_page_once() -> None:
    def files(entries: list[dict[str, object] | str]) -> list[str]:
        found: list[str] = []
        for entry in entries:
            for value in entry.values() if isinstance(entry, dict) else (entry,):
                found += files(value) if isinstance(value, list) else [str(value)]
        return found

    shown = files(yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"])
    docs = ROOT / "docs"
    assert sorted(shown) == sorted(
        ["index.md", *(page.relative_to(docs).as_posix() for page in PAGES if page.is_relative_to(docs))]
    )


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_site_is_built_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    mkdocs = ROOT / ".venv-docs" / "bin" / "mkdocs"
    if not mkdocs.exists():
        pytest.skip("make docs gets what builds it")
    done = subprocess.run(  # noqa: S603 - our own
        [mkdocs, "build", "--strict", "--quiet", "--site-dir", tmp_path], cwd=ROOT, check=False
    )
    assert done.returncode == 0
    assert (tmp_path / "search" / "search_index.json").stat().st_size
    html = "".join(page.read_text("utf-8") for page in tmp_path.rglob("*.html"))
    assert "quickstart" in html
    assert re.findall(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=\"?https?://[^\">]+", html) == []
