"""The one value that the pipeline's stages refine.

A stage is `async def stage(state: State, tools: Tools) -> State`: it returns a copy with its own fields set and trace
lines added. What a stage may call is in `engine.values.ports`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from engine.question.question import Question
from engine.values.candidate import Candidate
from engine.values.conformal import Selection
from engine.values.deadline import Deadline
from engine.values.dialogue import Dialogue
from engine.values.elements import (
    ColumnContent,
    ColumnFacts,
    Entity,
    SchemaLinks,
    UnknownPhrase,
    ValueLink,
    ValueList,
)
from engine.values.learned import Learned
from engine.values.messages import AskRequest, StageTiming, TraceLine, Usage
from engine.values.refusal import Refusal, pointing
from engine.values.settings import Strategy
from schema_catalog.personal import PersonalKind, personal_columns
from schema_catalog.types import ColumnKey, Database, Snapshot, TableKey, Term


@dataclass(frozen=True, slots=True)
class Route:
    """A database that may answer, its schema as the asker may see it, and its tables, likeliest first.

    `probability` in [0, 1], among all that the asker may read. `likely`: the tables that are not far from the likeliest
    one. `entities`, `terms` (that the question names), `values`, `lists` (of columns of few values, all of them),
    `contents` (of JSON and of dates in texts), `told` (what a prompt may say of kept values), `links` (None without a
    linker) and `unknown` (what nothing in the schema stands for) and
    `learned`: by the link stage. `home`: the asker is connected to it, or the dialogue's last answer was of it.
    """

    database: Database
    snapshot: Snapshot
    probability: float
    tables: tuple[TableKey, ...]
    entities: tuple[Entity, ...] = ()
    values: tuple[ValueLink, ...] = ()
    lists: tuple[ValueList, ...] = ()
    links: SchemaLinks | None = None
    unknown: tuple[UnknownPhrase, ...] = ()
    learned: Learned = field(default_factory=Learned)
    terms: tuple[Term, ...] = ()
    contents: tuple[ColumnContent, ...] = ()
    likely: tuple[TableKey, ...] = ()
    home: bool = False
    told: tuple[ColumnFacts, ...] = ()

    @property
    def unanswerable(self) -> bool:
        """Whether nothing in the schema stands for anything that is asked."""
        return 0 < len(self.entities) <= len(self.unknown)

    @property
    def withheld(self) -> Mapping[ColumnKey, PersonalKind]:
        """Columns of personal data, of which a prompt shows what the question itself names alone."""
        kept = {each.column: each.personal for each in self.told}
        by_name = ((key, kind) for key, kind in personal_columns(self.snapshot).items() if key not in kept)
        return dict((*by_name, *((key, kind) for key, kind in kept.items() if kind is not None)))


@dataclass(frozen=True, slots=True)
class State:
    """A question on its way through the pipeline.

    `k`: candidates at most. `calls`: model calls at most, repairs apart. `started`: by the deadline's clock.
    `strategy`: how statements are written, READINGS or SEARCH, chosen as the question sets out (`Tools.strategy`).
    `verified`: a verified answer to this very question, apart from the candidates. `dialogue`: with the asker so far.
    `considered`: the ranked candidates, those that selection left out among them (select).
    `question`: as it is answered: `ask`'s, in English (`translation`; None where it was asked so) or in full words.
    `routed_by`: the question in the language of the schemas, for the router alone; None where that is `question`.
    `far`: neither names nor allowed values come near to the question (route). `closer`: a database that seems to fit
    better than the one that is asked, which is the asker's own (link).
    `late`: the time was over before all was looked for; what was found is shown, and none of it may run unread.
    `doubtful`: none of the candidates is likely, so that none may run unread (decide).
    `from_catalog`: the question is about the data itself, and these are its answer (understand).
    `refusal`: why there will be no statement; the stages after the one that sets it are skipped. `parts`: databases
    with the question that each answers, of a question over two of them (link).
    """

    ask: AskRequest
    question: Question
    k: int
    calls: int
    deadline: Deadline
    started: float
    routes: tuple[Route, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    trace: tuple[TraceLine, ...] = ()
    timings: tuple[StageTiming, ...] = ()
    usage: Usage = field(default_factory=Usage)
    selection: Selection | None = None
    verified: Candidate | None = None
    dialogue: Dialogue = field(default_factory=Dialogue)
    considered: tuple[Candidate, ...] = ()
    translation: str | None = None
    routed_by: Question | None = None
    far: bool = False
    closer: str | None = None
    doubtful: bool = False
    from_catalog: bool = False
    late: bool = False
    refusal: Refusal | None = None
    parts: tuple[tuple[str, str], ...] = ()
    strategy: Strategy = Strategy.SEARCH

    @property
    def asks_for_readings(self) -> bool:
        """Whether the model is asked for the readings of the question; else statements are searched for."""
        return self.strategy is Strategy.READINGS

    @property
    def local(self) -> bool:
        """Whether what is written of it for a model may hold something of a local database."""
        return self.dialogue.local or any(route.database.local for route in self.routes)

    def route_of(self, database: str) -> Route:
        """The route to it; raises `KeyError` where there is none."""
        return {route.database.name: route for route in self.routes}[database]

    @property
    def settled(self) -> bool:
        """Whether the answer is known: none, a question back, or by the catalog."""
        return self.refusal is not None or self.dialogue.pending is not None or self.from_catalog

    def refused(self, refusal: Refusal, stage: str) -> State:
        """A copy with the refusal; `NL WHY` shows all that would help, the answer's row the best of it."""
        refusal = self.pointing_closer(refusal)
        return replace(self, refusal=refusal).told(refusal, stage, f"refused: {refusal.reason}")

    def pointing_closer(self, refusal: Refusal) -> Refusal:
        """`refusal`, with the database that fits better where there is one."""
        return refusal if self.closer is None else pointing(refusal, self.closer, self.question)

    def told(self, refusal: Refusal, stage: str, event: str) -> State:
        """A copy with why, and what would help, in its trace."""
        refusal = self.pointing_closer(refusal)
        helps = (TraceLine(stage, "would help", each) for each in refusal.helps)
        failed = (TraceLine(stage, "nothing stands for", each) for each in refusal.phrases)
        return self.noted(TraceLine(stage, event, refusal.words), *helps, *failed)

    @property
    def own_words(self) -> Question:
        """The question without what it may go on from, as long as nobody has said whether it does."""
        follow_up = self.dialogue.follow_up
        if follow_up is None or self.dialogue.read_as:
            return self.question
        return replace(self.question, text=follow_up.then)

    def out_of_time(self, stage: str) -> State:
        """A copy in which `stage` did not come to its end."""
        found = f"{len(self.candidates)} found so far"
        return replace(self, late=True).noted(TraceLine(stage, "out of time", found))

    def in_full(self, words: str) -> State:
        """A copy in which a follow-up is read as `words`; as one by itself where these are its own."""
        follow_up = self.dialogue.follow_up
        own = follow_up is not None and follow_up.then.split() == words.split()
        said = replace(self.dialogue, follow_up=None) if own else replace(self.dialogue, read_as=words)
        return replace(self, question=replace(self.question, text=words), dialogue=said)

    def noted(self, *lines: TraceLine) -> State:
        """A copy with `lines` added to the trace."""
        return replace(self, trace=self.trace + lines)
