"""Stored calibration points.

Owns the SQL of table `calibration_point` and of the column `question.selection`. A point holds hashes and scores: no
question, no statement, no row. Points of another recipe, schema or set of columns with allowed values stay and do not
count.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial

import msgspec

from engine.judge.packaged_scores import NOTHING, Base
from engine.judge.records import Judged, Point
from engine.judge.splits import divide, id_hash
from engine.learn.store import answering
from engine.values.calibration import KnownQuestion, Source
from engine.values.conformal import Calibrated, Scored, Selection
from schema_catalog.pg import Pool

_VALUED = """
    (SELECT string_agg(format('%I.%I.%I', v.schema, v."table", v."column"), ','
                       ORDER BY v.schema, v."table", v."column")
     FROM pgparley.value_column v WHERE v.database = d.name)
"""
"""The columns of database `d` with allowed values; null where there are none."""

_SAID = "pgparley.knowledge_digest(d.name)"
"""What is said of database `d`: it changes what is hidden, found and shown to the model."""

_SCHEMA = f"s.fingerprint || coalesce('+' || md5({_VALUED}), '') || coalesce('+' || {_SAID}, '')"
"""A point's fingerprint of snapshot `s` of database `d`."""

_CURRENT = f"""
    FROM pgparley.calibration_point p
    JOIN pgparley.database d ON d.name = p.database
    JOIN pgparley.snapshot s ON s.id = d.newest AND {_SCHEMA} = p.schema
    WHERE p.recipe = $1
"""

_VERSION = f"""
    SELECT (SELECT version FROM pgparley.catalog_version WHERE only_row),
           (SELECT version FROM pgparley.calibration_version WHERE only_row),
           (SELECT md5(string_agg({_VALUED}, ';' ORDER BY d.name)) FROM pgparley.database d),
           (SELECT generation FROM pgparley.learning_version WHERE only_row) AS generation
"""  # noqa: S608 - constants
"""Changes with the set of points that count."""

_KEEP = f"""
    INSERT INTO pgparley.calibration_point
        (question, source, recipe, database, schema, grouping, width, candidates, qid)
    SELECT $1, $2, $3, $4, coalesce($9, {_SCHEMA}), $5, $6, $7::jsonb, $8
    FROM pgparley.database d JOIN pgparley.snapshot s ON s.id = d.newest WHERE d.name = $4
    ON CONFLICT (question, recipe, width) DO UPDATE
    SET source = excluded.source, database = excluded.database, schema = excluded.schema, grouping = excluded.grouping,
        candidates = excluded.candidates, qid = excluded.qid, judged_at = now()
    WHERE excluded.source <> 'choice' OR calibration_point.source = 'choice'
"""  # noqa: S608 - constants

_ANSWERED = f"""
    UPDATE pgparley.question SET selection = $2::jsonb || jsonb_build_object('schemas', coalesce(
        (SELECT jsonb_object_agg(d.name, {_SCHEMA})
         FROM pgparley.database d JOIN pgparley.snapshot s ON s.id = d.newest WHERE d.name = ANY ($3)), '{{}}'))
    WHERE qid = $1
"""  # noqa: S608 - constants

_FEEDBACK = """
    SELECT DISTINCT ON (database, lower(question)) question, database, sql, asker, source FROM (
        SELECT q.question, v.database, v.body AS sql, q.asker, 'verified' AS source, v.given_at AS at
        FROM pgparley.verdict v JOIN pgparley.question q USING (qid)
        WHERE v.kind = 'corrected' AND q.expires_at > now()
        UNION ALL
        SELECT q.question, r ->> 'database', r ->> 'sql', q.asker, 'choice', c.chosen_at
        FROM pgparley.choice c JOIN pgparley.question q USING (qid)
        CROSS JOIN LATERAL jsonb_array_elements(q.reply -> 'rows') r
        WHERE (r ->> 'n')::int = c.n AND r ->> 'sql' IS NOT NULL AND q.expires_at > now()
          AND (q.selection -> 'whole')::boolean
    ) AS said
    ORDER BY database, lower(question), source = 'choice', at DESC
"""

_answering = partial(answering, "the calibration's store")


@dataclass(frozen=True, slots=True)
class StoredPoint:
    """A point with its source and the number of candidates looked for."""

    source: Source
    width: int
    point: Point


class _Selected(msgspec.Struct):
    """`question.selection`. `schemas`: the fingerprints that the databases of the answer had."""

    group: str
    width: int
    whole: bool
    candidates: list[Scored]
    schemas: dict[str, str] = {}


class CalibrationStore:
    """`engine.values.ports.Calibration` over a store, for one recipe. Every method raises `StoreUnavailableError`."""

    def __init__(self, pool: Pool, recipe: str, base: Base = NOTHING) -> None:
        """`base`: see `Calibrated`."""
        self._pool = pool
        self.base = base
        self._fixed = self._recipe = recipe
        self._version: tuple[int | str | None, ...] | None = None
        self._kept: tuple[StoredPoint, ...] = ()
        self._stale: int | None = None
        self.revision = 0
        """Grows when `points` finds a change."""
        self._found: dict[int, Calibrated] = {}

    async def find(self, width: int) -> Calibrated:
        """The scores of right candidates where `width` candidates were looked for."""
        kept = await self.points()
        if width not in self._found:
            here = [each.point for each in kept if each.width == width]
            calibration, _ = divide(here)
            self._found[width] = self.base.beside(calibration.calibrated(), here, width)
        return self._found[width]

    async def points(self) -> tuple[StoredPoint, ...]:
        """The points that count now; one small query where nothing changed since the last call."""
        async with _answering():
            row = await self._pool.fetchrow(_VERSION)
            version = tuple(row or ())
            if version != self._version:
                self._recipe = _with(self._fixed, row["generation"] if row else "")
                rows = await self._pool.fetch(
                    f"SELECT p.question, p.source, p.grouping, p.width, p.candidates::text {_CURRENT}",
                    self._recipe,
                )
                self._kept = tuple(
                    StoredPoint(
                        Source(source),
                        width,
                        Point(question, group, msgspec.json.decode(body, type=tuple[Judged, ...])),
                    )
                    for question, source, group, width, body in rows
                )
                self._found = {}
                self._stale = None
                self._version = version
                self.revision += 1
        return self._kept

    async def stale(self) -> int:
        """How many stored points do not count."""
        await self.points()
        if self._stale is None:
            async with _answering():
                found = await self._pool.fetchval(
                    f"SELECT (SELECT count(*) FROM pgparley.calibration_point) - (SELECT count(*) {_CURRENT})",  # noqa: S608 - a constant
                    self._recipe,
                )
            self._stale = int(found)
        return self._stale

    async def keep(self, database: str, kept: StoredPoint) -> None:
        """Stores a point for the database's newest schema, in place of an older one of the same question."""
        await self._keep(database, kept, None, None)

    async def answered(self, qid: str, selection: Selection) -> None:
        """Stores an answer's selection, for a choice from it."""
        body = _Selected(selection.group, selection.width, selection.whole, list(selection.candidates))
        async with _answering():
            await self._pool.execute(
                _ANSWERED,
                qid,
                msgspec.json.encode(body).decode(),
                sorted({each.database for each in selection.candidates}),
            )

    async def chosen(self, qid: str, n: int) -> bool:
        """Stores a choice as a point, where the answer was shown whole; returns whether it was."""
        async with _answering():
            row = await self._pool.fetchrow(
                "SELECT question, selection::text FROM pgparley.question WHERE qid = $1", qid
            )
        if row is None or row["selection"] is None:
            return False
        selected = msgspec.json.decode(row["selection"], type=_Selected)
        if not selected.whole or not 1 <= n <= len(selected.candidates):
            return False
        judged = tuple(Judged(place == n, each.score) for place, each in enumerate(selected.candidates, 1))
        database = selected.candidates[n - 1].database
        point = Point(id_hash(question_identity(database, row["question"])), selected.group, judged)
        await self._keep(
            database, StoredPoint(Source.CHOICE, selected.width, point), qid, selected.schemas.get(database)
        )
        return True

    async def feedback(self) -> tuple[KnownQuestion, ...]:
        """What askers said is right and has not expired: the newest correction of each question, else choice."""
        async with _answering():
            rows = await self._pool.fetch(_FEEDBACK)
        return tuple(
            KnownQuestion(question, database, sql, user, Source(source))
            for question, database, sql, user, source in rows
        )

    async def _keep(self, database: str, kept: StoredPoint, qid: str | None, schema: str | None) -> None:
        await self.points()  # brings the recipe up to date
        async with _answering():
            await self._pool.execute(
                _KEEP,
                kept.point.question,
                kept.source.value,
                self._recipe,
                database,
                kept.point.group,
                kept.width,
                msgspec.json.encode(kept.point.candidates).decode(),
                qid,
                schema,
            )


def question_identity(database: str, question: str) -> str:
    """The id of a question without one: database and words, without case and white space."""
    return f"{database}\n{' '.join(question.casefold().split())}"


def _with(recipe: str, generation: str) -> str:
    return hashlib.sha256(f"{recipe}\n{generation}".encode()).hexdigest() if generation else recipe
