"""A statement with the schemas of its relations and types written out, so that no search path decides what it reads.

Owns the rewriting, and which schemas have to be searched for names that stay bare. Names of WITH queries are not
touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from engine.guard import Analysis, Name, QualifiedName, Rules, allowed
from schema_catalog.naming import dotted, quote_ident


@dataclass(frozen=True, slots=True)
class Qualified:
    """`text`: the statement. `relations`, `types`: what it names, as SQL writes it, each once.

    `allowed_schemas`: of the functions and operators that a DBA allowed and that it names bare; they have to be
    searched. `insertions`: (offset in the original text, characters put there), in order.
    """

    text: str
    relations: tuple[str, ...]
    types: tuple[str, ...]
    allowed_schemas: tuple[str, ...]
    insertions: tuple[tuple[int, int], ...]

    def original(self, position: int) -> int:
        """Where `position` of `text`, from 1 as the server counts, stands in the original text."""
        before = 0
        for offset, length in self.insertions:
            if offset + before + length >= position:
                break
            before += length
        return position - before


def bare_names(analysis: Analysis) -> tuple[str, ...]:
    """The relations that are named without a schema, each once."""
    found = {each.name[0] for each in analysis.relations if not each.cte and len(each.name) == 1}
    return tuple(sorted(found))


def qualified(analysis: Analysis, schemas: Mapping[str, str], rules: Rules) -> Qualified:
    """`analysis`' statement; a relation that `schemas` lacks stays bare, and is then found nowhere."""
    relations = [(each.start, each.name) for each in analysis.relations if not each.cte]
    own_types = {name: schema for schema, name in rules.types if name not in allowed.TYPES}
    types = [(each.start, each.name) for each in analysis.types if _is_own(each.name, own_types)]
    insertions = sorted([*_prefixes(relations, schemas), *_prefixes(types, own_types)])
    parts: list[str] = []
    done = 0
    for start, prefix in insertions:
        parts += [analysis.body[done:start], prefix]
        done = start
    parts.append(analysis.body[done:])
    return Qualified(
        "".join(parts),
        _written((name for _, name in relations), schemas),
        _written((name for _, name in types), own_types),
        tuple(
            sorted(
                _schemas(analysis.functions, allowed.FUNCTIONS, rules.functions)
                | _schemas(analysis.operators, allowed.OPERATORS, rules.operators)
            )
        ),
        tuple((start, len(prefix)) for start, prefix in insertions),
    )


def _is_own(name: Name, own: Mapping[str, str]) -> bool:
    """Whether a type is somebody's, not PostgreSQL's."""
    return name[0] in own if len(name) == 1 else name[0] != "pg_catalog"


def _prefixes(names: Iterable[tuple[int, Name]], schemas: Mapping[str, str]) -> list[tuple[int, str]]:
    bare = [(start, schemas.get(name[0])) for start, name in names if len(name) == 1 and start >= 0]
    return [(start, f"{quote_ident(schema)}.") for start, schema in bare if schema is not None]


def _written(names: Iterable[Name], schemas: Mapping[str, str]) -> tuple[str, ...]:
    whole = (name if len(name) > 1 else (schemas[name[0]], *name) for name in names if _known(name, schemas))
    return tuple(dict.fromkeys(dotted(name) for name in whole))


def _known(name: Name, schemas: Mapping[str, str]) -> bool:
    return len(name) > 1 or name[0] in schemas


def _schemas(
    names: Iterable[Name], built_in: frozenset[str], confirmed: frozenset[QualifiedName]
) -> frozenset[str]:
    bare = {name[0] for name in names if len(name) == 1} - built_in
    return frozenset(schema for schema, name in confirmed if name in bare)
