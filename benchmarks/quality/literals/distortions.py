"""Ways in which a question's word differs from the stored value, by a seeded recipe.

Owns the recipe; it knows nothing of how values are found.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path

from engine.text import normalise as folding

_WORD = re.compile(r"[A-Za-z]{4,}")
_KINDS = ("noun", "verb", "adj")

Synonyms = Mapping[str, tuple[str, ...]]
"""A word → the other words of its commonest meaning, by part of speech."""


class Distortion(StrEnum):
    """What is done to a text."""

    NONE = "none"
    ABSENT = "absent"
    """Nothing, and the column holds it no more: whatever is found is wrong."""
    CASE = "case"
    SPACING = "spacing"
    """Accents lost, hyphens and spaces exchanged."""
    PLURAL = "plural"
    ENDING = "ending"
    """Another form of a word: canceled, canceling."""
    LETTER = "letter"
    """A letter left out, doubled or exchanged with the next."""
    FEWER = "fewer words"
    MORE = "more words"
    SYNONYM = "synonym"
    DATE = "date"


def synonyms(folder: Path) -> Synonyms:
    """Of WordNet's files in `folder` (format: wndb(5WN)): the first meaning of each word, a word or two long."""
    found: dict[str, dict[str, None]] = {}
    for kind in _KINDS:
        sets = {}
        for fields in _lines(folder / f"data.{kind}"):
            names = (fields[4 + 2 * place].split("(")[0] for place in range(int(fields[3], 16)))
            sets[fields[0]] = tuple(name.replace("_", " ").lower() for name in names)
        for fields in _lines(folder / f"index.{kind}"):
            others = found.setdefault(fields[0], {})
            others.update(dict.fromkeys(sets[fields[-int(fields[2])]]))
    return {word: tuple(each for each in others if each != word) for word, others in found.items()}


def _lines(file: Path) -> Iterator[list[str]]:
    for line in file.read_text(encoding="latin-1").splitlines():
        if not line.startswith(" "):
            yield line.split("|")[0].split()


def distorted(text: str, how: Distortion, seed: str, words: Synonyms) -> str | None:
    """`text` after `how`, the same for the same `seed`; None where it has nothing to distort."""
    chance = random.Random(f"{seed} {how} {text}")  # noqa: S311  a draw of words
    if how in (Distortion.NONE, Distortion.ABSENT):
        return text
    other = _DO[how](text, chance, words)
    return other if other and other != text else None


def _case(text: str, chance: random.Random, _: Synonyms) -> str:
    return chance.choice(
        [each for each in (text.lower(), text.upper(), text.title()) if each != text] or [text]
    )


def _spacing(text: str, chance: random.Random, _: Synonyms) -> str:
    plain = "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))
    return (
        plain
        if plain != text
        else chance.choice([text.replace(" ", "-"), text.replace("-", " "), f" {text}"])
    )


def _plural(text: str, _chance: random.Random, _: Synonyms) -> str | None:
    if not text[-3:].isalpha():
        return None
    return text[:-1] if text.endswith("s") and not text.endswith("ss") else f"{text}s"


def _ending(text: str, chance: random.Random, _: Synonyms) -> str | None:
    found = list(_WORD.finditer(text))
    if not found:
        return None
    word = chance.choice(found)
    stem = re.sub(r"(ing|ed|er|e|s)$", "", word[0])
    return text[: word.start()] + stem + chance.choice(["ing", "ed", "er"]) + text[word.end() :]


def _letter(text: str, chance: random.Random, _: Synonyms) -> str | None:
    found = list(_WORD.finditer(text))
    if not found:
        return None
    word = chance.choice(found)
    at = chance.randrange(word.start() + 1, word.end() - 1)
    edits = (text[:at] + text[at + 1 :], text[:at] + text[at] + text[at:])
    return chance.choice([*edits, text[:at] + text[at + 1] + text[at] + text[at + 2 :]])


def _fewer(text: str, chance: random.Random, _: Synonyms) -> str | None:
    parts = text.split()
    if len(parts) < 2:  # noqa: PLR2004  of one word nothing would be left
        return None
    del parts[chance.randrange(len(parts))]
    return " ".join(parts)


def _more(text: str, chance: random.Random, _: Synonyms) -> str | None:
    return f"{text} {chance.choice(['type', 'one', 'area', 'class'])}" if text[-2:].isalpha() else None


def _synonym(text: str, chance: random.Random, words: Synonyms) -> str | None:
    places = [each for each in _WORD.finditer(text) if words.get(each[0].lower())]
    whole = words.get(text.lower().replace(" ", "_"), ())
    if whole:
        return chance.choice(whole)
    if not places:
        return None
    place = chance.choice(places)
    return text[: place.start()] + chance.choice(words[place[0].lower()]) + text[place.end() :]


def _date(text: str, chance: random.Random, _: Synonyms) -> str | None:
    day = folding.date_key(text)
    if day is None or day.count("-") < 2:  # noqa: PLR2004  a month has no day to write
        return None
    year, month, number = day.split("-")
    name = list(folding.MONTHS)[int(month) - 1].title()
    return chance.choice([f"{name} {int(number)}, {year}", f"{int(number)} {name[:3]} {year}", day])


_DO: Mapping[Distortion, Callable[[str, random.Random, Synonyms], str | None]] = {
    Distortion.CASE: _case,
    Distortion.SPACING: _spacing,
    Distortion.PLURAL: _plural,
    Distortion.ENDING: _ending,
    Distortion.LETTER: _letter,
    Distortion.FEWER: _fewer,
    Distortion.MORE: _more,
    Distortion.SYNONYM: _synonym,
    Distortion.DATE: _date,
}
