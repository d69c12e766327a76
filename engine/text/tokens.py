"""Words of questions and of identifiers, so that the two can be compared.

Owns splitting and folding: `OrderItems`, `order_items` and "the order's items" give the same words. Works on
any script; where a script writes no spaces, pairs of characters stand in for words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from engine.text.stopwords import STOP_WORDS

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
"""Thai, Lao, Burmese, Khmer, kana and Han: scripts written without spaces."""

_RUN = re.compile(rf"(?P<unspaced>[{_UNSPACED}]+)|\d+|[^\W\d_{_UNSPACED}]+")

_HISSING = re.compile(r"(s|x|ch|sh)$")

_SHORT = 4
"""Letters of a word in the plural, at least."""


@lru_cache(maxsize=65_536)
def identifier_words(name: str) -> tuple[str, ...]:
    """The folded words of a table's or column's name, in order.

    The last 65,536 are kept, some 24 MiB of names: each question asks for those of every name that its asker may read.
    """
    return tuple(_folded(name))


def folded_name(name: str) -> str:
    """The folded words of a name as one text; the name itself where it has none."""
    return " ".join(identifier_words(name)) or name


def question_words(question: str) -> tuple[str, ...]:
    """The folded words of a question without stop words, each once, in order."""
    plain = re.sub(r"['\u2019]s\b", "", question)
    return tuple(dict.fromkeys(word for word in _folded(plain) if word not in STOP_WORDS))


def plural(word: str) -> str:
    """The word with an English plural's ending."""
    if word.endswith("y"):
        return word[:-1] + "ies"
    return word + ("es" if _HISSING.search(word) else "s")


def without_accents(text: str) -> str:
    """The compatibility decomposition of `text` (NFKD) without combining characters."""
    if text.isascii():
        return text
    return "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))


def _folded(text: str) -> Iterator[str]:
    for run in _RUN.finditer(unicodedata.normalize("NFC", without_accents(text))):
        text = run[0]
        if run["unspaced"]:
            yield from (text[i : i + 2] for i in range(max(1, len(text) - 1)))
        else:
            yield from (_singular(piece.casefold()) for piece in _camel_pieces(text))


def _camel_pieces(run: str) -> Iterator[str]:
    """The words of a run of letters; a row of capitals leaves its last to the next word: HTTP, Server."""
    start = 0
    for i in range(1, len(run)) if not run.islower() else ():
        opens = run[i].isupper() and (not run[i - 1].isupper() or run[i + 1 : i + 2].islower())
        if opens:
            yield run[start:i]
            start = i
    yield run[start:]


def _singular(word: str) -> str:
    """The word without an English plural's ending; both sides fold alike, so a wrong guess does no harm."""
    if len(word) > _SHORT and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > _SHORT and word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if len(word) >= _SHORT and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
