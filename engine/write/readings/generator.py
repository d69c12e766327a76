"""The readings strategy: one call asks for all that a question may mean, and what is refused is mended in one more.

Owns the calls, their budget and what becomes of a reply. The prompt is `engine.write.readings.prompt`'s, the parts
of a reply `engine.llm.replies`'. A statement is checked as the asker like every other; none is made of it by exchanging
names, and no rule reads other words into it: a model that follows instructions was asked for that. Behind the last one
stands what rules make of them that rest on keys and NULL.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count

from engine.findings.admit import Door, Rejection
from engine.llm.prompts import prompt
from engine.llm.redaction import put_back, words
from engine.llm.replies import Reading, Readings, readings
from engine.question.plain import excerpt
from engine.statement.read import normal_form
from engine.values import wording
from engine.values.background import all_of
from engine.values.candidate import Candidate, Meaning, change_lines
from engine.values.dialogue import FollowUp
from engine.values.errors import CancelledError, ContextLengthError
from engine.values.messages import TraceLine
from engine.values.ports import Completion
from engine.values.refusal import model_cannot
from engine.values.state import Route, State
from engine.values.tools import Tools
from engine.write.readings.prompt import LEAST_ROOM, Writer, room
from engine.write.readings.undone import listed, undone
from schema_catalog.types import TableKey

STAGE = "write"

ANSWER_TOKENS = 1_200
"""Tokens of an answer at most; twice as many where that was too few."""

CUTS = 3
"""Times that a schema is cut to half where the model says that the prompt is too long."""

LONGEST = 300
"""Characters of a model's reason that are shown."""

WANTED = "The person has seen these and means none of them.\n"


def answer_schema(*, several: bool, follow_up: bool = False) -> dict[str, object]:
    """The JSON schema of an answer, as strict as the services want it; `several`: databases to choose from.

    `follow_up`: with the question in full words, which is written first, or null where it stands by itself.
    """
    keys = ["meaning", "sql", "assumes", *(["database"] if several else [])]
    reading = {
        "type": "object",
        "properties": {key: {"type": "string"} for key in keys},
        "required": keys,
        "additionalProperties": False,
    }
    first: dict[str, object] = {"question": {"type": ["string", "null"]}} if follow_up else {}
    parts = {
        **first,
        "readings": {"type": "array", "items": reading},
        "cannot": {"type": ["string", "null"]},
    }
    return {
        "type": "object",
        "properties": parts,
        "required": [*parts],
        "additionalProperties": False,
    }


async def readings_of(state: State, tools: Tools) -> State:
    """`state` with the readings of its routes as candidates, or with the refusal that the model gives a reason for.

    What was found when the time is over is kept. Raises as `engine.values.ports.LanguageModel.complete` and
    `engine.findings.admit.admitted`.
    """
    if not state.routes or not state.calls:
        return state
    asking = _Asking(state, tools)
    await asking.read(state)
    late = False
    try:
        await asking.answer()
    except CancelledError:
        late = True
        if not asking.found and state.verified is None:
            raise
    state = asking.noted(state)
    if late:
        return state.out_of_time(STAGE)
    if asking.cannot and not state.candidates and state.verified is None:
        return state.refused(model_cannot(excerpt(asking.cannot.rstrip("."), LONGEST)), STAGE)
    return state


class _Asking:
    """The calls for one question, and what came of them. `cannot`: why there is no reading, in the model's words."""

    def __init__(self, state: State, tools: Tools) -> None:
        self._state = state
        self._tools = tools
        self._doors: Mapping[str, Door] = {}
        self._calls = list[Completion]()
        self._lines = list[TraceLine]()
        self._candidates = list[Candidate]()
        self._beside = list[Candidate]()
        self._shown = list[Candidate]()
        self._refused: Sequence[Reading] = ()
        self._ready: float | None = None
        self._room = room(tools.model.profile.context)
        self._writer: Writer | None = None
        self._seen = frozenset[TableKey]()
        self.cannot = ""

    async def read(self, state: State) -> None:
        """Goes on with the question of `state`, by which statements are admitted."""
        self._state = state
        self._doors = {
            route.database.name: await Door.of(route, state, self._tools) for route in state.routes
        }

    async def answer(self) -> None:
        """Asks once; again, within the effort, to mend what was refused and for what the first readings do not do."""
        shown = self._state.ask.exclude
        more = await self._beyond(listed(shown), shown, wanted=True) if shown else ""
        found = await self._ask(more)
        schemas = (await self._show()).schemas
        if not found.readings and any(each.left for each in schemas) and self._may_ask:
            self._seen = frozenset[TableKey]().union(*(each.full for each in schemas))
            await self._show(anew=True)
            found = await self._ask(more)
        self.cannot = found.cannot
        rejected = await self._take(found.readings, count(len(shown)))
        if rejected and self._may_ask:
            again = await self._ask(prompt("readings_again", refused=_listed(rejected.values())))
            # What is mended stands where it was refused.
            await self._take(again.readings, chain(rejected, count(len(shown) + len(found.readings))))
            self.cannot = again.cannot or self.cannot
        mended = {each.meaning.place for each in self._candidates}
        self._refused = [reading for place, (reading, _) in rejected.items() if place not in mended]
        if shown:
            await self._admit_shown(shown)
        elif self._tools.effort.thorough and self._candidates and self._may_ask:
            await self._once_more()

    async def _admit_shown(self, shown: Sequence[str]) -> None:
        """Has what the asker has seen among the candidates, so that other readings are compared with its rows."""
        databases = {each.database for each in self._candidates}
        for place, sql in enumerate(shown):
            made = (Candidate(name, sql, meaning=Meaning(place)) for name in databases)
            outcomes = await all_of(self._doors[each.database].admitted(each) for each in made)
            self._shown += [each for each in outcomes if isinstance(each, Candidate)][:1]

    @property
    def found(self) -> bool:
        """Whether a reading's statement stood."""
        return bool(self._candidates)

    @property
    def _may_ask(self) -> bool:
        return len(self._calls) < self._tools.effort.calls

    async def _show(self, *, anew: bool = False) -> Writer:
        """The writer of prompts, `anew` with what there is room for now, less the tables that were shown in full."""
        if self._writer is None:
            self._writer = await Writer.of(self._state, self._tools, self._room)
        elif anew:
            self._writer = await self._writer.showing(self._state, self._room, self._seen)
        return self._writer

    async def _ask(self, more: str = "") -> Readings:
        """The reply to the question, behind which stands `more`; with less of the schema where that is too long."""
        for _ in range(CUTS):
            try:
                return await self._reply(more)
            except ContextLengthError:
                # Half of what was shown: the room may be far more.
                shown = sum(len(each.text) for each in (await self._show()).schemas)
                self._room = max(LEAST_ROOM, min(self._room, shown) // 2)
                await self._show(anew=True)
        return await self._reply(more)

    async def _reply(self, more: str) -> Readings:
        writer = await self._show()
        asked = await asyncio.to_thread(writer.prompt, self._state, self._unread, more)
        schema = answer_schema(several=len(writer.schemas) > 1, follow_up=self._unread is not None)
        for tokens in (ANSWER_TOKENS, 2 * ANSWER_TOKENS):
            written = await self._tools.model.complete(
                asked, deadline=self._state.deadline, max_tokens=tokens, schema=schema
            )
            self._calls.append(written)
            if written.finished or not self._may_ask:
                break
        self._ready = self._ready or self._state.deadline.clock()
        found = await asyncio.to_thread(self._read, written)
        if found is None:
            said = written.refusal or written.text or "nothing"
            self._lines.append(TraceLine(STAGE, "no readings in the reply", said[:LONGEST]))
            return Readings(cannot=written.refusal or "")
        if self._unread is not None:
            full = found.question or self._unread.then
            event = "follow-up read as" if found.question else "goes on from nothing"
            self._lines.append(TraceLine(STAGE, event, full))
            await self.read(self._state.in_full(full))
        return found if written.finished else replace(found, readings=found.readings[:-1])

    def _read(self, written: Completion) -> Readings | None:
        """What a reply says, with what the model was not told in its place. Blocks: call it in a thread."""
        found, marks = readings(written.text), written.marks
        if found is None or not marks:
            return found
        said = tuple(
            Reading(
                put_back(each.sql, marks, self._route_of(each).snapshot),
                words(each.meaning, marks),
                words(each.assumes, marks),
                each.database,
            )
            for each in found.readings
        )
        return replace(
            found,
            readings=said,
            cannot=words(found.cannot, marks),
            question=found.question and words(found.question, marks),
        )

    def _route_of(self, reading: Reading) -> Route:
        return self._doors[self._database(reading)].route

    def _database(self, reading: Reading) -> str:
        return reading.database if reading.database in self._doors else next(iter(self._doors))

    @property
    def _unread(self) -> FollowUp | None:
        """What the question goes on from, until the model has said it in full words."""
        dialogue = self._state.dialogue
        return None if dialogue.read_as else dialogue.follow_up

    async def _take(
        self, found: Sequence[Reading], places: Iterable[int]
    ) -> dict[int, tuple[Reading, Rejection]]:
        """Admits the readings' statements at once, as candidates at their `places`.

        Returns the rejected ones by place, with the reason.
        """
        made = [self._candidate(each, place) for each, place in zip(found, places, strict=False)]
        checks = (self._doors[each.database].admitted(each) for each in made)
        outcomes = await asyncio.gather(*checks, return_exceptions=True)
        stood = [each for each in outcomes if isinstance(each, Candidate)]
        # What stood stays, although the time ended for another one.
        self._candidates += stood
        for each in outcomes:
            if isinstance(each, BaseException):
                raise each
        beside = await all_of(self._doors[each.database].readings(each) for each in stood)
        self._beside += [each for found in beside for each in found]
        rejected = {
            each.meaning.place or 0: (reading, outcome)
            for each, reading, outcome in zip(made, found, outcomes, strict=True)
            if isinstance(outcome, Rejection)
        }
        self._lines += [TraceLine(STAGE, "written", each.sql) for each in stood]
        self._lines += [
            TraceLine(STAGE, f"refused by {each.cause}", f"{each.message}: {reading.sql}")
            for reading, each in rejected.values()
        ]
        return rejected

    def _candidate(self, reading: Reading, place: int) -> Candidate:
        return Candidate(self._database(reading), reading.sql, meaning=_meaning(reading, place))

    async def _once_more(self) -> None:
        """Asks for what the readings do not do, and notes where that is nothing new."""
        first = [*self._candidates]
        more = await self._beyond(listed(map(_line, first)), [each.sql for each in first])
        if not more:
            return
        again = await self._ask(more)
        await self._take(again.readings, count(1 + max(each.meaning.place or 0 for each in first)))
        forms = await asyncio.to_thread(self._forms, self._candidates)
        new = len(forms - await asyncio.to_thread(self._forms, first))
        self._lines.append(TraceLine(STAGE, "asked once more", f"{len(again.readings)} given, {new} new"))
        if not new:
            self._candidates[:1] = [self._candidates[0].with_words(wording.NOTHING_MORE)]

    def _forms(self, candidates: Iterable[Candidate]) -> set[tuple[str, str]]:
        """Their normal forms. Parses them: call it in a thread."""
        return {normal_form(each.sql, self._doors[each.database].route) for each in candidates}

    async def _beyond(self, found: str, statements: Sequence[str], *, wanted: bool = False) -> str:
        """What is asked behind the question, about what none of the `statements` does; empty where that is nothing.

        `found`: how they are told. `wanted`: the asker has seen them, and asks for others whatever is left.
        """
        lines = list[str]()
        if self._tools.generation.undone:
            for door in self._doors.values():
                lines += await asyncio.to_thread(undone, statements, door.route)
        if not lines and not wanted:
            return ""
        told = prompt("readings_undone", lines=listed(lines)) + "\n" if lines else ""
        return prompt("readings_beyond", found=found, wanted=WANTED if wanted else "", undone=told)

    def noted(self, state: State) -> State:
        """The state with the candidates, what they cost, and the trace."""
        usage = state.usage
        for call in self._calls:
            usage = usage.plus(call.usage)
        if usage.first_candidate_seconds is None and self._ready is not None and self._candidates:
            usage = replace(usage, first_candidate_seconds=self._ready - state.started)
        candidates = (*state.candidates, *self._shown, *self._told(), *self._beside)
        # As the question was read.
        state = replace(
            state,
            question=self._state.question,
            dialogue=self._state.dialogue,
            candidates=candidates,
            usage=usage,
        )
        return state.noted(*self._lines, *change_lines((*self._candidates, *self._beside)))

    def _told(self) -> list[Candidate]:
        """The candidates, of which the first says what the model cannot answer beside them, and what was refused."""
        said = [wording.NOT_ANSWERED.format(excerpt(self.cannot.rstrip("."), LONGEST))] if self.cannot else []
        said += [each.unshown(wording.REFUSED) for each in map(_meaning, self._refused) if each.says]
        first = min(self._candidates, key=lambda each: each.meaning.place or 0, default=None)
        if not said or first is None:
            return self._candidates
        return [each.with_words(*said) if each is first else each for each in self._candidates]


def _meaning(reading: Reading, place: int | None = None) -> Meaning:
    return Meaning(place, reading.meaning, reading.assumes)


def _line(candidate: Candidate) -> str:
    return f"{candidate.meaning.says.rstrip('.') or 'a reading'}: {candidate.sql}"


def _listed(rejected: Iterable[tuple[Reading, Rejection]]) -> str:
    return "\n".join(
        f"- {reading.meaning or 'a reading'}: {reading.sql}\n  {rejection.message}"
        for reading, rejection in rejected
    )
