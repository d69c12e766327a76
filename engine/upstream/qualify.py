"""A statement with the schemas of its relations written out, so that no search path decides what it reads.

Owns the text alone: which schema a name belongs to is told. Names of WITH queries stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.guard import Analysis, Relation
from schema_catalog.naming import quote_ident


@dataclass(frozen=True, slots=True)
class Qualified:
    """`text`: the statement. `relations`, `types`: what it names, as SQL writes it, each once.

    `insertions`: (offset in the original text, characters put there), in order.
    """

    text: str
    relations: tuple[str, ...]
    types: tuple[str, ...]
    insertions: tuple[tuple[int, int], ...]

    def original(self, position: int) -> int:
        """Where `position` of `text`, from 1 as the server counts, stands in the original text."""
        before = 0
        for offset, length in self.insertions:
            if offset + before + length >= position:
                break
            before += length
        return position - before


def bare_names(analysis: Analysis) -> list[str]:
    """The relations that are named without a schema, each once."""
    return sorted({each.name[0] for each in analysis.relations if not each.cte and len(each.name) == 1})


def qualified(analysis: Analysis, schemas: Mapping[str, str]) -> Qualified:
    """`analysis`' statement; a name that `schemas` lacks stays bare, and is then found nowhere."""
    parts: list[str] = []
    insertions: list[tuple[int, int]] = []
    done = 0
    bare = [each for each in analysis.relations if not each.cte and len(each.name) == 1]
    for relation in sorted(bare, key=lambda each: each.start):
        schema = schemas.get(relation.name[0])
        if schema is None:
            continue
        prefix = f"{quote_ident(schema)}."
        parts += [analysis.body[done : relation.start], prefix]
        insertions.append((relation.start, len(prefix)))
        done = relation.start
    parts.append(analysis.body[done:])
    found = (_written(each, schemas) for each in analysis.relations if not each.cte)
    types = (".".join(map(quote_ident, each)) for each in analysis.types if len(each) > 1)
    return Qualified(
        "".join(parts),
        tuple(dict.fromkeys(name for name in found if name is not None)),
        tuple(dict.fromkeys(types)),
        tuple(insertions),
    )


def _written(relation: Relation, schemas: Mapping[str, str]) -> str | None:
    name = relation.name
    if len(name) == 1:
        schema = schemas.get(name[0])
        name = () if schema is None else (schema, *name)
    return ".".join(map(quote_ident, name)) or None
