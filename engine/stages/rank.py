"""Orders the candidates and gives each a confidence.

What a ranker makes of statement and question (`engine.ranking`; without it how likely the model found the statement)
and what its readings have been worth, weighed by the route, and by whether it found anything: who asks expects an
answer, and a literal of the wrong column finds none. The confidences of one answer sum to at most 1; they are not
calibrated.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.core.candidate import Candidate
from engine.core.elements import WHOLE_TABLE, elements_of, elements_read
from engine.core.ports import Ranker, Ranking
from engine.core.state import Route, State
from engine.core.tools import Tools
from engine.dialogue.refusal import absent
from engine.linking.mentions import mentioned_tables, tables_not_read, terms_used, values_not_used
from engine.linking.standing import OUTDATED, deprecated, measured
from engine.prompting.term_text import defined
from engine.ranking.contradictions import contradictions
from engine.rewrite.rule import Statement
from engine.rewrite.rules.flags import Flag, flags_left_out, named_flags
from engine.rewrite.worth import worth_of
from engine.sql.describe import describe
from engine.sql.tree import parsed
from engine.types import TraceLine
from engine.understanding.names import names_not_used
from schema_catalog.types import ColumnKey, Table, Term

FRUITLESS = 0.1
"""What a statement that finds nothing is worth beside others that do."""

UNSAID = 0.1
"""What a statement is worth that says nothing of a table or a value which the question calls by its name. Of Spider's
training questions with a table's name 4 % are answered by one."""

CONTRADICTED = 0.03
"""What a statement is worth that contradicts the question. Of Spider's training questions that ask for a number for
each of something 17 of 548 have one number for all in their known statement, of those that ask for all rows one of
4,200 has a LIMIT."""

SURELY = 0.95
"""Of a linked column at most, that it is asked for: one alone rules no statement out."""

FORKED = 0.3
"""What a fork is worth beside what the model wrote by itself. Of 85 lists of training questions 73 have the right one
first by anything from .14 to .47, 71 by 1."""


async def rank(state: State, tools: Tools) -> State:
    """Sorts `state.candidates` and keeps the best `k`, best first, with confidences and explanations."""
    return await asyncio.to_thread(_ranked, state, tools.ranker)


def _ranked(state: State, ranker: Ranker) -> State:
    """The same. Runs a network and reads whole schemas: not for the event loop."""
    rankings = ranker.rank(state.ask.question, state.candidates)
    shares = {route.database.name: route.probability for route in state.routes}
    logits = [
        ranking.score + worth_of(candidate)
        for ranking, candidate in zip(rankings, state.candidates, strict=True)
    ]
    best = max(logits, default=0.0)
    silent = _silences(state)
    weighed = [
        (
            replace(candidate, unsaid=left.words, terms=left.used, notes=left.notes),
            _scores(candidate, ranking, left),
            _weight(candidate, logit - best, left) * shares.get(candidate.database, 0.0),
        )
        for candidate, ranking, logit, left in zip(state.candidates, rankings, logits, silent, strict=True)
    ]
    weighed.sort(key=lambda each: each[2], reverse=True)
    total = sum(weight for _, _, weight in weighed) or 1.0
    known = sum(shares[name] for name in {c.database for c in state.candidates})
    ranked = [replace(c, confidence=known * weight / total) for c, _, weight in weighed[: state.k]]
    explained = tuple(replace(c, explanation=explain(c, ranked[0])) for c in ranked)
    lines = [
        TraceLine("rank", c.sql, scores, c.confidence)
        for c, (_, scores, _) in zip(ranked, weighed, strict=False)
    ]
    return replace(state, candidates=explained).noted(*lines)


@dataclass(frozen=True, slots=True)
class _Silence:
    """What of the question a statement says nothing of: tables, and values, names and terms; and the terms `used`.

    `outdated`: what it reads that is deprecated; `measured`: the units and time zones of what it reads;
    `contradicted`: what it says otherwise. `linked`: columns that the schema linker has linked;
    `needless`: the probability that none of these is asked for.
    """

    tables: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    used: tuple[Term, ...] = ()
    outdated: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()
    contradicted: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()
    needless: float = 1.0

    @property
    def all(self) -> tuple[str, ...]:
        return self.tables + self.words

    @property
    def notes(self) -> tuple[str, ...]:
        outdated = (f"reads {name}, which is deprecated" for name in self.outdated)
        return (*self.measured, *outdated, *self.contradicted)


def _silences(state: State) -> list[_Silence]:
    """Of each candidate."""
    asked = {
        route.database.name: (
            route,
            mentioned_tables(state.ask.question, route.snapshot),
            named_flags(state.ask.question, route.snapshot, route.lists),
        )
        for route in state.routes
    }
    return [
        _unsaid(state.ask.question, each, *asked[each.database]) if each.database in asked else _Silence()
        for each in state.candidates
    ]


def _unsaid(
    question: str, candidate: Candidate, route: Route, asked: Sequence[Table], named: Sequence[Flag]
) -> _Silence:
    """What the statement does not name of values, terms and what is `asked`, less tables that it may not read."""
    hidden = {key[:2] for key in candidate.masked if key[2] == WHOLE_TABLE}
    left = tables_not_read(asked, candidate.tables, route.snapshot)
    values = values_not_used(question, candidate.sql, route.values)
    names = names_not_used(question, candidate.sql, route.snapshot, route.values)
    tables = tuple(table.name for table in left if table.key not in hidden)
    used = terms_used(route.terms, candidate.tables, candidate.columns)
    terms = (each.name for each in route.terms if each not in used)
    flags = _flags_not_tested(candidate.sql, route, named)
    words = tuple(dict.fromkeys((*values, *names, *terms, *flags)))
    outdated = deprecated(candidate.tables, candidate.columns, route.snapshot)
    units = tuple(measured(candidate.columns, route.snapshot))
    contradicted = contradictions(question, candidate.sql, route.snapshot, asked, route.lists)
    contradicted += ("takes the first of groups of one row each",) if candidate.ones else ()
    unread = _linked_unread(candidate, route)
    linked = tuple(sorted(f"{table}.{column}" for _, table, column in unread))
    needless = math.prod(1.0 - min(chance, SURELY) for chance in unread.values())
    return _Silence(tables, words, used, outdated, units, contradicted, linked, needless)


def _flags_not_tested(sql: str, route: Route, named: Sequence[Flag]) -> Iterator[str]:
    tree = parsed(sql) if named else None
    if tree is not None:
        statement = Statement(tree, route.snapshot)
        yield from (" ".join(flag.words) for _, _, flag in flags_left_out(statement, named))


def _linked_unread(candidate: Candidate, route: Route) -> Mapping[ColumnKey, float]:
    """The linked columns that a statement does not read, and how probable each is; less those of terms."""
    if route.links is None:
        return {}
    known = elements_read(candidate.columns, candidate.tables).union(*map(elements_of, route.terms))
    left = (each for each in route.links.linked - known if each[2] != WHOLE_TABLE)
    return {each: route.links.probabilities.get(each, 0.0) for each in left}


def _weight(candidate: Candidate, behind: float, silence: _Silence) -> float:
    doubts = (
        (candidate.forked, FORKED),
        (candidate.fruitless, FRUITLESS),
        (bool(silence.all), UNSAID),
        (bool(silence.outdated), OUTDATED),
        (bool(silence.contradicted), CONTRADICTED),
    )
    return math.exp(behind) * silence.needless * math.prod(share for doubted, share in doubts if doubted)


def _scores(candidate: Candidate, ranking: Ranking, silence: _Silence) -> str:
    """What the order is made of, for the trace."""
    parts = [f"logprob {candidate.logprob}", f"schema {candidate.schema_score:.3f}"]
    parts += [
        f"{name} {value:.3f}"
        for name, value in (("first stage", ranking.first), ("second stage", ranking.second))
        if value is not None
    ]
    parts += [f"readings {worth_of(candidate):+.2f}"] if candidate.changes or candidate.merged else []
    parts += ["a fork"] if candidate.forked else []
    parts += ["finds nothing"] if candidate.fruitless else []
    parts += [f"says nothing of {', '.join(silence.all)}"] if silence.all else []
    parts += [f"leaves {', '.join(silence.linked)} unread"] if silence.linked else []
    parts += [*silence.contradicted]
    parts += [f"reads {', '.join(silence.outdated)}, deprecated"] if silence.outdated else []
    return ", ".join(parts)


def explain(candidate: Candidate, best: Candidate) -> str:
    """What the statement does in words, its terms and units, what rules changed, and what it alone reads."""
    said = [describe(candidate.sql), *(f"{each.name}: {defined(each)}" for each in candidate.terms)]
    said += [*candidate.notes, *(change.how for change in candidate.changes)]
    said += [absent(candidate.missing)] if candidate.missing else []
    said += [f"says nothing of {', '.join(candidate.unsaid)}"] if candidate.unsaid else []
    words = "; ".join(said)
    if candidate.database != best.database:
        return words
    gained = sorted(".".join(key[1:]) for key in candidate.columns - best.columns)
    lost = sorted(".".join(key[1:]) for key in best.columns - candidate.columns)
    if gained and lost:
        return f"{words}; uses {', '.join(gained)} where 1 uses {', '.join(lost)}"
    return words
