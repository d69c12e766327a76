"""What the schema linker holds for possible and no candidate reads: options for which nothing is written yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.core.candidate import Candidate
from engine.core.elements import WHOLE_TABLE, BranchingPoint, SchemaLinks, elements_read
from engine.dialogue.differences import Aspect, Difference, Reading, Said
from engine.dialogue.facts import Fact, Matter
from schema_catalog.types import ColumnKey


def unread(
    candidates: Sequence[Candidate], said: Said, links: Mapping[str, SchemaLinks]
) -> tuple[Difference, ...]:
    """For each branching point of `links`, by database, the elements that candidates read against those that none does.

    `said`: the candidates' facts, which tell what they read where `Candidate.columns` does not.
    """
    reads = [
        elements_read(each.columns, each.tables).union(*(fact.columns for fact in facts))
        for each, facts in zip(candidates, said, strict=True)
    ]
    found = []
    for database, linked in links.items():
        members = [place for place, each in enumerate(candidates) if each.database == database]
        for point in linked.branching:
            readings = _readings(point, linked, {place: reads[place] for place in members})
            if len({bool(each.members) for each in readings}) > 1:
                whole = point.element[2] == WHOLE_TABLE
                example = Fact(Matter.TABLE if whole else Matter.OUTPUT, (point.element,))
                aspect = Aspect.TABLE if whole else Aspect.COLUMN
                found.append(Difference(aspect, example.matter, readings, example))
    return tuple(found)


def _readings(
    point: BranchingPoint, links: SchemaLinks, reads: Mapping[int, frozenset[ColumnKey]]
) -> tuple[Reading, ...]:
    """What each element of the point is read by; shares are the linker's probabilities among its elements."""
    family = dict.fromkeys((point.element, *point.alternatives))
    total = sum(links.probabilities.get(each, 0.0) for each in family) or 1.0
    known = frozenset(each for read in reads.values() for each in read)
    readings = []
    for each in family:
        members = tuple(place for place, read in reads.items() if read.intersection(family) == {each})
        share = 0.0 if each in known else links.probabilities.get(each, 0.0) / total
        if members or share:
            readings.append(Reading((each,), members, frozenset({each}), share))
    return tuple(readings)
