"""Questions that came to nothing, each by one word that failed, read as their caller.

Owns the grouping: by the word that failed in most of them, no stop word. Owns also when a group counts as mended: its
word has become a synonym, or its questions were verified since.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from datetime import datetime

from schema_catalog.pg import Connection

MOST = 500
"""Questions that are looked at, the newest."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One question, however often it was asked. `reason`: what its asker was told, or said.

    `sql`: the statement that was right, where the asker corrected, else the first that was shown. `asker`, `candidates`
    and `trace`: where the asker sent it to stewards, else empty.
    """

    question: str
    outcome: str
    reason: str
    database: str
    sql: str
    last: datetime
    times: int
    verified: bool
    asker: str
    candidates: tuple[str, ...]
    trace: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """What failed by one word; by none where nothing is known of it.

    `nearest`: the element that the word was nearest to. `synonym_of`: elements that have it as a synonym by now.
    """

    word: str
    nearest: str
    synonym_of: tuple[str, ...]
    failures: tuple[Failure, ...]

    @property
    def times(self) -> int:
        """How often it failed."""
        return sum(each.times for each in self.failures)

    @property
    def mended(self) -> bool:
        """Whether nothing of it is left to do."""
        return bool(self.synonym_of) or all(each.verified for each in self.failures)


_FAILED = """
    SELECT f.asked_at, f.question, f.outcome, coalesce(f.reason, '') AS reason, coalesce(f.database, '') AS database,
           coalesce(f.sql, '') AS sql, f.words, f.nearest,
           coalesce(f.asker, '') AS asker, coalesce(f.candidates, '{}') AS candidates, coalesce(f.trace, '{}') AS trace,
           EXISTS (SELECT FROM nl_catalog.verified_queries v
                   WHERE (v.database = f.database OR f.database IS NULL)
                     AND lower(v.question) = lower(f.question)) AS verified
    FROM nl_catalog.failed_questions f ORDER BY f.asked_at DESC LIMIT $1
"""


async def failures(connection: Connection) -> tuple[Group, ...]:
    """What failed and is kept, the word that failed oftenest first and what was mended last."""
    rows = await connection.fetch(_FAILED, MOST)
    stop = await _stop_words(connection, list({word.lower() for row in rows for word in row["words"]}))
    times = Counter(word.lower() for row in rows for word in row["words"])
    nearest: dict[str, str] = {}
    by_word: dict[str, list[Failure]] = defaultdict(list)
    for row in rows:
        failure = Failure(
            *(row["question"], row["outcome"], row["reason"], row["database"], row["sql"]),
            *(row["asked_at"], 1, row["verified"], row["asker"]),
            *(tuple(row["candidates"]), tuple(row["trace"])),
        )
        words = [word.lower() for word in row["words"] if word.lower() not in stop]
        by_word[min(words, key=lambda word: (-times[word], word), default="")].append(failure)
        for word, near in zip(row["words"], row["nearest"], strict=True):
            if near:
                nearest.setdefault(word.lower(), near)
    known = await _synonyms(connection, list(by_word))
    groups = [
        Group(word, nearest.get(word, ""), tuple(known.get(word, ())), _once_each(found))
        for word, found in by_word.items()
    ]
    return tuple(sorted(groups, key=lambda group: (group.mended, group.word == "", -group.times, group.word)))


async def _stop_words(connection: Connection, words: list[str]) -> frozenset[str]:
    """Those of `words` that PostgreSQL leaves out of a text search."""
    rows = await connection.fetch(
        "SELECT word FROM unnest($1::text[]) AS word WHERE to_tsvector('pg_catalog.english', word) = ''",
        words,
    )
    return frozenset(row["word"] for row in rows)


async def _synonyms(connection: Connection, words: list[str]) -> dict[str, list[str]]:
    rows = await connection.fetch(
        "SELECT lower(synonym) AS word, array_agg(element ORDER BY element) AS elements"
        " FROM nl_catalog.said, unnest(synonyms) AS synonym WHERE lower(synonym) = ANY ($1::text[]) GROUP BY 1",
        words,
    )
    return {row["word"]: row["elements"] for row in rows}


def _once_each(found: list[Failure]) -> tuple[Failure, ...]:
    """Each question once, as it failed last; a correction, which says more, before that, and what was sent first."""
    kept: dict[str, Failure] = {}
    times: dict[str, int] = defaultdict(int)
    for each in found:
        key = each.question.lower().rstrip(" .?!;")
        times[key] += 1
        if key not in kept or _says(each) > _says(kept[key]):
            kept[key] = each
    return tuple(replace(each, times=times[key]) for key, each in kept.items())


def _says(failure: Failure) -> tuple[bool, bool]:
    return bool(failure.asker), failure.outcome == "corrected"
