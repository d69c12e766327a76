"""Rules about literals: values as they are stored, in the column that holds them, and texts used as numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import sqlglot
from sqlglot import exp

from engine.findings.lint import Context
from engine.findings.rules.contents import is_number
from engine.link.legends import code_of
from engine.link.near_values import spelt_otherwise
from engine.statement.read import Draft, statement_of
from engine.statement.scope import Scopes, identifier
from engine.values import wording
from engine.values.elements import DATED, NUMBERS, ValueLink
from schema_catalog.foreign_keys import Edge
from schema_catalog.naming import quote_ident, quote_literal
from schema_catalog.types import ColumnKey
from schema_catalog.words import identifier_words

_NUMBER = r"^\s*([-+]?([0-9]{1,3}(,[0-9]{3})+|[0-9]+)([.][0-9]+)?)(?![0-9.,]|[-/:eE][-+]?[0-9])"
"""A number at the start of a text, thousands in groups: `1,200`, `-3.5 km`; not `1,20`, `1.2.3`, `1e5`, a date."""


_Compared = tuple[exp.Column, ColumnKey, exp.Literal]
"""Where a column stands, which it is, and the text that it is compared with."""


def literal_as_stored(statement: Draft, context: Context) -> str | None:
    """Compares with what is stored for a literal that its column does not hold.

    That is the value that was found for it, the text in any case where a column's values are not kept, or the rows that
    a key refers to.
    """
    compared = list(_comparisons(statement.tree, statement.scopes))
    missing = [each for each in compared if (each[1], each[2].name) in context.missing]
    changed = [*_in_any_case(compared, context), *_as_stored(compared, context)]
    said = wording.of(wording.READS, changed)
    referred = _referred(missing, statement.scopes, context)
    return "; ".join(filter(None, [said, referred])) or None


def _as_stored(compared: Iterable[_Compared], context: Context) -> Iterator[str]:
    for _, key, literal in compared:
        stored = context.stored.get((key, literal.name))
        if stored is not None:
            yield wording.VALUE_AS.format(literal.name, stored)
            literal.set("this", stored)


def _in_any_case(compared: Iterable[_Compared], context: Context) -> Iterator[str]:
    for column, key, literal in compared:
        test = column.parent
        if (key, literal.name) in context.in_any_case and isinstance(test, exp.EQ | exp.NEQ | exp.In):
            yield wording.IN_ANY_CASE.format(literal.name)
            for each in test.expressions if isinstance(test, exp.In) else [literal]:
                each.replace(exp.Lower(this=each.copy()))
            column.replace(exp.Lower(this=exp.cast(column.copy(), "text")))


def repair_literal(statement: Draft, context: Context) -> str | None:
    """Writes the code for a text that a column of numbers cannot hold, or looks where it is held.

    `status = 'invoiced'` is the code that the column's comment gives; `dept_id = 'Sales'` is looked for by the
    department's name, and so is one of a table that FROM has not and no reference leads to.
    """
    scopes = statement.scopes
    wrong = [
        each for each in _comparisons(statement.tree, scopes) if _is_of_another_type(each[1], each[2], scopes)
    ]
    if codes := wording.of(wording.READS, _coded(wrong, context)):
        return codes
    return _moved(wrong, scopes, context) or _referred(wrong, scopes, context) or _reached(statement, context)


def _coded(wrong: Iterable[_Compared], context: Context) -> Iterator[str]:
    for _, key, literal in wrong:
        code = code_of(literal.name, key, context.snapshot)
        if code is not None:
            yield wording.READS_AS.format(f"'{literal.name}'", code)
            literal.replace(exp.Literal.number(code))


def as_label(statement: Draft, _context: Context) -> str | None:
    """Writes the label that a text is in another spelling for an enum column, which takes no other text.

    For patterns and functions of text the column is cast: an enum has none.
    """
    scopes, changed = statement.scopes, []
    for column, _, literal in _comparisons(statement.tree, scopes):
        labels = _labels(column, scopes)
        found = [] if literal.name in labels else spelt_otherwise(literal.name, labels)
        if len(found) == 1:
            changed.append(wording.VALUE_AS.format(literal.name, found[0]))
            literal.set("this", found[0])
    for node in statement.tree.find_all(exp.Like, exp.ILike, exp.Lower, exp.Upper):
        if isinstance(node.this, exp.Column) and _labels(node.this, scopes):
            changed.append(wording.AS_TEXT.format(node.this.name))
            node.set("this", exp.cast(node.this.copy(), "text"))
    return wording.of(wording.READS, changed)


def _labels(column: exp.Column, scopes: Scopes) -> Sequence[str]:
    stored = scopes.stored(column)
    return () if stored is None else stored.labels


def _reached(statement: Draft, context: Context) -> str | None:
    scopes, references = statement.scopes, context.references
    changed = []
    for column, literal in list(_with_texts(statement.tree)):
        select = column.parent_select
        reads = scopes.reads.get(id(select), [])
        if scopes.reading(column) is not None or any(read.table is None for read in reads):
            continue
        sources = {read.table.key: read.name for read in reads if read.table is not None}
        if any(references.reachable(sources, table.key) for table in scopes.called.get(column.table, ())):
            continue
        places = [
            (key[:2] not in sources, len(path), key[2] != column.name, key)
            for key in _holding(literal, context.values)
            if (path := references.path(sources, key[:2])) or key[:2] in sources
            if not context.strays(path)
        ]
        if places:
            *_, key = min(places, key=lambda place: place[:3])
            column.set("this", identifier(key[2]))
            column.set("table", identifier(sources.get(key[:2], key[1])))
            changed.append(wording.PLACED.format(literal.name, key[1], key[2]))
    return wording.of(wording.LOOKS_FOR, changed)


def literal_in_its_column(statement: Draft, context: Context) -> str | None:
    """Compares the first literal with a column of the same tables that holds it: another reading, no correction."""
    return _moved(_comparisons(statement.tree, statement.scopes), statement.scopes, context)


def _moved(compared: Iterable[_Compared], scopes: Scopes, context: Context) -> str | None:
    for column, key, literal in compared:
        there = _elsewhere(column, key, literal, context.values, scopes)
        if there is not None:
            name, other = there
            column.set("this", identifier(other[2]))
            if column.table or len(scopes.reads[id(column.parent_select)]) > 1:
                column.set("table", identifier(name))
            return wording.LOOKS_FOR.format(wording.PLACED.format(literal.name, other[1], other[2]))
    return None


def literal_by_reference(statement: Draft, context: Context) -> str | None:
    """Looks a label up in the referenced table.

    `stat_cd = 'Late'` may mean `stat_cd IN (SELECT stat_cd FROM stat WHERE stat_dsc = 'Late')`. A literal that is not
    said stands for a value that is: where a column's own values are all codes, the model has to write one of them. The
    column's own reference comes first; one of another column counts where no other of the tables read leads there.
    """
    return _referred(_comparisons(statement.tree, statement.scopes), statement.scopes, context)


def _referred(compared: Iterable[_Compared], scopes: Scopes, context: Context) -> str | None:
    said = _said(context)
    for column, key, literal in compared:
        test = literal.parent
        unsaid = said.isdisjoint(identifier_words(literal.name))
        holding = _named(context.values) if unsaid else _holding(literal, context.values)
        if not isinstance(test, exp.EQ | exp.NEQ) or _elsewhere(column, key, literal, context.values, scopes):
            continue
        if key not in holding and (found := _referring(column, key, holding, context, scopes)) is not None:
            name, edge, other = found
            table = scopes.snapshot.display_name(scopes.tables[edge.other])
            rows = f"{quote_ident(other[2])} = {quote_literal(holding[other])}"
            keys = f"SELECT {quote_ident(edge.other_columns[0])} FROM {table} WHERE {rows}"  # noqa: S608  all quoted
            refers = exp.column(identifier(edge.columns[0]), identifier(name) if name else None)
            among = refers.isin(query=keys, dialect="postgres")
            test.replace(among.not_() if isinstance(test, exp.NEQ) else among)
            return wording.REFERRED.format(holding[other], other[1], other[2], edge.columns[0])
    return None


def _referring(
    column: exp.Column, key: ColumnKey, holding: Collection[ColumnKey], context: Context, scopes: Scopes
) -> tuple[str, Edge, ColumnKey] | None:
    """(name in FROM or "", reference, the one of `holding` that it leads to); None without one, or with several."""
    reads = [(read.name, read.table) for read in scopes.reads[id(column.parent_select)] if read.table]
    ways = [
        (name if column.table or len(reads) > 1 else "", edge, other)
        for name, table in reads
        for edge in context.references.edges(table.key)
        for other in holding
        if edge.referring and len(edge.columns) == 1 and edge.other == other[:2]
        if edge.other in scopes.tables and edge.other_columns[0] != other[2]
    ]
    own = [way for way in ways if way[1].table == key[:2] and way[1].columns == key[2:]]
    return own[0] if own else ways[0] if len(ways) == 1 else None


def misplaced_literal(sql: str, context: Context) -> bool:
    """Whether `literal_in_its_column` would move a literal of `sql`."""
    copy = statement_of(sql, context.snapshot).draft()
    return copy is not None and literal_in_its_column(copy, context) is not None


def _elsewhere(
    column: exp.Column, key: ColumnKey, literal: exp.Literal, values: Sequence[ValueLink], scopes: Scopes
) -> tuple[str, ColumnKey] | None:
    """(name in FROM, column) that holds the literal where its own column is not known to; None where nothing does."""
    holding = _holding(literal, values)
    if not holding or key in holding:
        return None
    reads = [read for read in scopes.reads[id(column.parent_select)] if read.table is not None]
    reads.sort(key=lambda read: read.table is None or read.table.key != key[:2])
    return next(
        (
            (read.name, other)
            for read in reads
            for other in holding
            if read.table is not None and read.table.key == other[:2]
        ),
        None,
    )


def _holding(literal: exp.Literal, values: Sequence[ValueLink]) -> dict[ColumnKey, str]:
    """The columns in which the question's words found the literal, and how it is stored there."""
    return {
        link.column: value
        for link in values
        for value in link.values
        if link.span and value.casefold() == literal.name.casefold()
    }


def _named(values: Sequence[ValueLink]) -> dict[ColumnKey, str]:
    """The columns in which words of the question are one value, and how it is stored there."""
    return {link.column: link.values[0] for link in values if link.span and len(link.values) == 1}


def _said(context: Context) -> set[str]:
    """The words of the question, and those of the stored values that it names."""
    said = set(context.question.words)
    for link in context.values:
        said.update(word for value in link.values for word in identifier_words(value))
    return said


def _is_of_another_type(key: ColumnKey, literal: exp.Literal, scopes: Scopes) -> bool:
    """Whether PostgreSQL refuses the text for a number or a date, as the column holds them."""
    kind = next((each.type for each in scopes.tables[key[:2]].columns if each.name == key[2]), "")
    if kind.startswith(DATED):
        return not any(letter.isdigit() for letter in literal.name)
    return kind.startswith(NUMBERS) and not _is_written_number(literal.name)


def _is_written_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _comparisons(tree: exp.Query, scopes: Scopes) -> Iterator[_Compared]:
    """Columns of tables, and the text literals that =, <>, IN and IS DISTINCT FROM compare them with."""
    for column, literal in _with_texts(tree):
        if (key := scopes.key(column)) is not None:
            yield column, key, literal


def _with_texts(tree: exp.Query) -> Iterator[tuple[exp.Column, exp.Literal]]:
    """Columns of tables or not, and the text literals that they are so compared with."""
    for node in tree.find_all(exp.EQ, exp.NEQ, exp.In, exp.NullSafeNEQ):
        others = node.expressions if isinstance(node, exp.In) else [node.expression]
        for other in others if isinstance(node.this, exp.Column) else ():
            if isinstance(other, exp.Literal) and other.is_string:
                yield node.this, other


def text_as_number(statement: Draft, _context: Context) -> str | None:
    """Reads the number at the start of a text that is summed, averaged or compared with a number; NULL without one."""
    changed = []
    for node in statement.tree.find_all(exp.Sum, exp.Avg, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.EQ, exp.NEQ):
        column = node.this
        if not statement.scopes.type_of(column).startswith(("text", "character")):
            continue
        if isinstance(node, exp.Sum | exp.Avg) or is_number(node.expression):
            start = f"substring({column.sql(dialect='postgres')} FROM '{_NUMBER}')"
            number = f"CAST(replace({start}, ',', '') AS numeric)"
            column.replace(sqlglot.parse_one(number, dialect="postgres"))
            changed.append(column.name)
    return wording.of(wording.AS_NUMBERS, changed)
