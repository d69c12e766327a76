"""Puts what a file says to the tables of a registered database, as a file of knowledge; tells what cannot be."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from zoneinfo import available_timezones

import msgspec

from pgparley_dbt.expressions import ExpressionError, qualified
from pgparley_dbt.statements import (
    SaidColumn,
    SaidJoin,
    SaidMetric,
    SaidText,
    Statements,
    TableName,
    Target,
    stands_at,
)
from schema_catalog.knowledge_files.format import (
    Cardinality,
    ColumnBlock,
    DatabaseBlock,
    JoinBlock,
    KnowledgeFile,
    LeftOut,
    Place,
    Source,
    TableBlock,
    TermBlock,
)
from schema_catalog.naming import dotted
from schema_catalog.types import Attributes, DeclaredKey, TableKey

LONGEST_DESCRIPTION = 2000
LONGEST_DEFINITION = 400
LONGEST_WORD = 60
LONGEST_UNIT = 40
MOST_WORDS = 30


def placed(
    said: Statements, target: Target, origin: str, name: str, refusal: Callable[[str], str | None]
) -> Source:
    """`said` of `target`. `refusal`: why a definition cannot be one, None where it can."""
    return _Placing(target, refusal, [*said.left_out]).file(said, origin, name)


class _NotTakenError(Exception):
    """The message says why something is left out."""


@dataclass(slots=True)
class _Placing:
    target: Target
    refusal: Callable[[str], str | None]
    left_out: list[LeftOut]
    places: dict[str, Place] = field(default_factory=dict)

    def file(self, said: Statements, origin: str, name: str) -> Source:
        block = DatabaseBlock(
            self.target.database, tables=self._tables(said), joins=self._joins(said), terms=self._terms(said)
        )
        content = KnowledgeFile(1, (block,))
        return Source(name, content, stands_at(name, self.places), origin, tuple(self.left_out))

    @contextmanager
    def _or_left_out(self, what: str, place: Place) -> Iterator[None]:
        """What the block does not take over is left out, for the reason that it raises."""
        try:
            yield
        except (_NotTakenError, ExpressionError) as problem:
            self.left_out.append(LeftOut(what, str(problem), place))

    def _tables(self, said: Statements) -> tuple[TableBlock, ...]:
        blocks: dict[TableKey, TableBlock] = {}
        for one in said.tables:
            text = one.text
            with self._or_left_out(f"table {one.table}", text.place):
                key = self._table(one.table)
                if key in blocks:
                    raise _NotTakenError("it is described twice; the first counts")
                path = f"$.databases[0].tables[{len(blocks)}]"
                self.places[path] = text.place
                description, synonyms = self._text(str(one.table), text)
                columns = self._columns(key, one.columns, path)
                blocks[key] = TableBlock(
                    *key,
                    description=description,
                    synonyms=synonyms,
                    sensitivity=self._marks(str(one.table), text).sensitivity,
                    columns=columns,
                )
        return tuple(blocks.values())

    def _columns(self, key: TableKey, columns: tuple[SaidColumn, ...], path: str) -> tuple[ColumnBlock, ...]:
        blocks: dict[str, ColumnBlock] = {}
        for one in columns:
            what = f"column {dotted((*key, one.name))}"
            with self._or_left_out(what, one.text.place):
                name = self._column(key, one.name)
                if name in blocks:
                    raise _NotTakenError("it is described twice; the first counts")
                self.places[f"{path}.columns[{len(blocks)}]"] = one.text.place
                description, synonyms = self._text(what, one.text)
                marks = self._marks(what, one.text)
                blocks[name] = ColumnBlock(
                    name,
                    description,
                    synonyms,
                    sensitivity=marks.sensitivity,
                    unit=marks.unit,
                    time_zone=marks.time_zone,
                    key=DeclaredKey.UNIQUE if one.unique else None,
                )
        return tuple(blocks.values())

    def _text(self, what: str, text: SaidText) -> tuple[str | None, tuple[str, ...]]:
        synonyms: dict[str, str] = {}
        for word in (" ".join(each.split()) for each in text.synonyms):
            if _is_word(word) and len(synonyms) < MOST_WORDS:
                synonyms.setdefault(word.lower(), word)
            else:
                reason = (
                    f"a synonym has at most {LONGEST_WORD} characters, and an element at most {MOST_WORDS}"
                )
                self.left_out.append(
                    LeftOut(f'synonym "{word[:LONGEST_WORD]}" of {what}', reason, text.place)
                )
        return self._description(what, text.description, text.place), tuple(synonyms.values())

    def _marks(self, what: str, text: SaidText) -> Attributes:
        """The attributes that can be said; a zone that the server lacks would fail the whole import."""
        kept: dict[str, str] = {}
        for name, value in text.attributes.items():
            taken = str(value).strip()
            if _is_word(taken) and (
                name == "sensitivity"
                or (name == "unit" and len(taken) <= LONGEST_UNIT)
                or (name == "time_zone" and taken in available_timezones())
            ):
                kept[name] = taken
            else:
                self.left_out.append(
                    LeftOut(f"{name} of {what}", f"{taken[:LONGEST_UNIT]!r} is none", text.place)
                )
        return msgspec.convert(kept, Attributes)

    def _description(self, what: str, written: str | None, place: Place) -> str | None:
        description = (written or "").strip()
        if "{{" in description:
            reason = "it is a template; target/manifest.json has the text"
            self.left_out.append(LeftOut(f"description of {what}", reason, place))
            return None
        if len(description) > LONGEST_DESCRIPTION:
            reason = f"it has more than {LONGEST_DESCRIPTION:,} characters; it is cut there"
            self.left_out.append(LeftOut(f"end of the description of {what}", reason, place))
        return description[:LONGEST_DESCRIPTION].replace("\x00", "").strip() or None

    def _joins(self, said: Statements) -> tuple[JoinBlock, ...]:
        blocks: dict[tuple[str, str], JoinBlock] = {}
        for one in said.joins:
            what = f"join {one.table}.{one.column} = {one.referred}.{one.referred_column}"
            with self._or_left_out(what, one.place):
                block = self._join(one)
                ends = (dotted(block.column), dotted(block.referred))
                if ends in blocks or ends[::-1] in blocks:
                    continue
                if whose := self.target.joins.get(ends):
                    raise _NotTakenError(f"{whose} declared it already")
                self.places[f"$.databases[0].joins[{len(blocks)}]"] = one.place
                blocks[ends] = block
        return tuple(blocks.values())

    def _join(self, one: SaidJoin) -> JoinBlock:
        table, referred = self._table(one.table), self._table(one.referred)
        column = (*table, self._column(table, one.column))
        other = (*referred, self._column(referred, one.referred_column))
        if column == other:
            raise _NotTakenError("a column is not joined with itself")
        return JoinBlock(column, other, Cardinality.ONE_TO_ONE if one.unique else Cardinality.MANY_TO_ONE)

    def _terms(self, said: Statements) -> tuple[TermBlock, ...]:
        blocks: dict[str, TermBlock] = {}
        for one in said.metrics:
            for written in one.names:
                name = " ".join(written.split())
                with self._or_left_out(f"metric {name}", one.place):
                    if name.lower() in blocks:
                        raise _NotTakenError("another metric has this name as well")
                    block = self._term(name, one)
                    self.places[f"$.databases[0].terms[{len(blocks)}]"] = one.place
                    blocks[name.lower()] = block
        return tuple(blocks.values())

    def _term(self, name: str, one: SaidMetric) -> TermBlock:
        if not _is_word(name):
            raise _NotTakenError(f"a term has 1 to {LONGEST_WORD} characters")
        if whose := self.target.terms.get(name.lower()):
            raise _NotTakenError(f"{whose} defined it already")
        definition = self._definition(one)
        if len(definition) > LONGEST_DEFINITION:
            raise _NotTakenError(f"a definition has at most {LONGEST_DEFINITION} characters")
        if reason := self.refusal(definition):
            raise _NotTakenError(reason)
        return TermBlock(name, definition, self._description(f"metric {name}", one.description, one.place))

    def _definition(self, one: SaidMetric) -> str:
        """The expression over the database's own names; raises `_NotTakenError` and `ExpressionError`."""
        aliases = dict(one.tables)
        read: set[TableKey] = set()

        def column(table: str, name: str) -> str:
            meant = aliases.get(table) if table else one.table
            if meant is None and table and one.table is not None and table == one.table.name:
                meant = one.table
            if meant is None:
                raise _NotTakenError(
                    f"it reads {table}.{name}" if table else f"no table stands before {name}"
                )
            key = self._table(meant)
            read.add(key)
            # A table of the schema public is found by its name.
            return dotted((*key[key[0] == "public" :], self._column(key, name)))

        definition = qualified(one.expression, column)
        if not read:
            raise _NotTakenError("it reads no column of a table")
        if len(read) > 1:
            raise _NotTakenError("it reads several tables")
        return definition

    def _table(self, name: TableName) -> TableKey:
        for same in (str.__eq__, _same_folded):
            found = [
                key
                for key in self.target.tables
                if same(key[1], name.name) and (name.schema is None or same(key[0], name.schema))
            ]
            found = [key for key in found if key[0] == "public"] or found
            if len(found) == 1:
                return found[0]
            if found:
                schemas = ", ".join(key[0] for key in found)
                raise _NotTakenError(f"the database has it in several schemas: {schemas}")
        raise _NotTakenError("the database has no such table")

    def _column(self, table: TableKey, name: str) -> str:
        columns = self.target.tables[table]
        found = [name] if name in columns else [each for each in columns if _same_folded(each, name)]
        if len(found) != 1:
            raise _NotTakenError(f"{dotted(table)} has no column {name}")
        return found[0]


def _same_folded(one: str, other: str) -> bool:
    return one.lower() == other.lower()


def _is_word(word: str) -> bool:
    return 0 < len(word) <= LONGEST_WORD and not any(unicodedata.category(c) == "Cc" for c in word)
