"""The gateway console's views of what the engine knows: catalog, questions, feedback, models.

Owns their SQL. Columns and access are the console's (`proxy/console/views.py`); a test runs both against each other.
Questions are shown in full: only administrators may ask.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from engine.app.metrics import OVERDUE, figures, ratio
from engine.judge.calibrating import Calibrating
from engine.llm.circuit import Outage
from engine.values.calibration import StatusRequest
from engine.values.errors import UnsupportedError
from engine.values.messages import Cell, RowSet, ViewRequest
from engine.values.model_profile import UNKNOWN, ModelProfile
from engine.values.model_settings import ModelSettings
from schema_catalog.pg import Pool

_SQL = {
    "nl_catalog": """
        SELECT d.name, d.dbname, left(s.fingerprint, 12), coalesce(jsonb_array_length(s.body -> 'tables'), 0),
               coalesce((SELECT sum(jsonb_array_length(t -> 'columns'))
                         FROM jsonb_array_elements(s.body -> 'tables') t), 0)::int,
               to_char(s.taken_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')
        FROM pgparley.database d LEFT JOIN pgparley.snapshot s ON s.id = d.newest
        ORDER BY d.name""",
    "nl_drift": """
        SELECT id::int, database, what, kind, old, new, state, array_to_string(breaks, '; '),
               to_char(found_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')
        FROM nl_catalog.drift ORDER BY state <> 'proposed', found_at DESC, id DESC LIMIT 100""",
    "nl_questions": """
        SELECT qid, asker, dbname, question, reply -> 'rows' -> 0 ->> 'kind', jsonb_array_length(reply -> 'rows'),
               to_char(asked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"'), (reply ->> 'seconds')::float8
        FROM pgparley.question WHERE expires_at > now() ORDER BY asked_at DESC, qid LIMIT 100""",
    "nl_feedback": """
        SELECT q.qid, q.asker, q.dbname, f.n, f.kind, to_char(f.at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"'),
               (SELECT count(*) FROM pgparley.learned_example e
                WHERE e.qid = q.qid AND e.asker = q.asker)::int,
               (SELECT count(*) FROM pgparley.learned_vote v JOIN pgparley.learned_example e ON e.id = v.example
                WHERE e.qid = q.qid AND e.asker = q.asker)::int,
               (SELECT count(*) FROM pgparley.learned_example e
                WHERE e.qid = q.qid AND e.asker = q.asker AND e.approved_at IS NOT NULL)::int
        FROM (SELECT qid, n, 'chosen' AS kind, chosen_at AS at FROM pgparley.choice
              UNION ALL SELECT qid, NULL, kind, given_at FROM pgparley.verdict) f
        JOIN pgparley.question q USING (qid)
        ORDER BY f.at DESC, q.qid LIMIT 100""",
}


@dataclass(frozen=True, slots=True)
class ConsoleViews:
    """The views over one store.

    `ready`: set once the models are loaded. `overdue`: counts the statements that a server has not stopped in time.
    `outage`: of the model server, while it is not asked. `profile`: what is known of it.
    """

    pool: Pool
    model: ModelSettings
    ready: asyncio.Event
    calibrating: Calibrating
    overdue: Callable[[], int]
    outage: Callable[[], Outage | None] = lambda: None
    profile: Callable[[], ModelProfile] = lambda: UNKNOWN

    async def view(self, request: ViewRequest) -> RowSet:
        """The rows of a view; raises `UnsupportedError` where there is none of that name."""
        if request.name == "nl_models":
            return RowSet(self._models())
        if request.name == "nl_calibration":
            return RowSet(await self._calibration())
        if request.name == "nl_stats":
            return RowSet(await self._stats())
        if request.name not in _SQL:
            raise UnsupportedError(f'the engine has no view "{request.name}"')
        rows = await self.pool.fetch(_SQL[request.name])
        return RowSet(tuple(tuple(row) for row in rows))

    async def _calibration(self) -> tuple[tuple[Cell, ...], ...]:
        status = await self.calibrating.status(StatusRequest())
        return tuple(
            (
                line.k,
                line.group,
                line.points,
                line.needed,
                line.coverage,
                ratio(line.kept, line.possible),
                line.tested,
                line.possible,
                ratio(line.right, line.tested),
                ratio(line.shown, line.tested),
                ratio(line.generated, line.tested),
            )
            for line in status.lines
        )

    async def _stats(self) -> tuple[tuple[Cell, ...], ...]:
        """The engine's figures as (name, labels, value)."""
        status = await self.calibrating.status(StatusRequest())
        selection = [
            (f"pgparley_nl_selection_{each.name}", f"k={each.k}", each.value) for each in figures(status)
        ]
        return ((OVERDUE, "", float(self.overdue())), *selection)

    def _models(self) -> tuple[tuple[Cell, ...], ...]:
        state = "ready" if self.ready.is_set() else "starting"
        outage = self.outage()
        answers = (
            state
            if outage is None
            else f"failed {outage.failures} times in a row, at last with: {outage.last}"
        )
        others = (("fallback", each.model, each.address, "", "") for each in self.model.fallback)
        return (
            ("generate", self.model.model, self.model.address, answers, self.profile().summary()),
            *others,
            ("encode", "all-MiniLM-L6-v2", "", state, ""),
        )
