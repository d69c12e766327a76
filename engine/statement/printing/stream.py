"""Writes a parse tree as text: pglast's printer, except where a setting or a search path could read it otherwise.

Owns these exceptions, and where in the original text each place of the new one comes from.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from pglast import ast, enums
from pglast.precedence import ExprContext
from pglast.stream import RawStream, maybe_double_quote_name


class Writer(RawStream):
    """One statement; `str` of it is `getvalue()`."""

    def __init__(self) -> None:
        super().__init__()
        self._written = 0
        self._places: list[tuple[int, int]] = []
        self._operators: list[tuple[str, int]] = []

    def write(self, s: str) -> int:
        """As the base class; notes where an operator stood, whose node is that of its whole expression."""
        count: int = super().write(s)
        self._written = self.tell()
        if self._operators and s in {"OPERATOR", self._operators[-1][0]}:
            self._places.append((self._written - len(s), self._operators[-1][1]))
        return count

    def write_quoted_string(self, s: str) -> None:
        """A literal that means the same with `standard_conforming_strings` on and off (docs 4.1.2.2)."""
        escape = "E" if "\\" in s else ""
        # Behind a letter the E would become part of a word.
        self.swrite("{}'{}'".format(escape, s.replace("\\", "\\\\").replace("'", "''")))

    def print_node(self, node: Any, is_name: bool = False, is_symbol: bool = False) -> None:  # noqa: FBT001, FBT002 - the base class's
        """As the base class; notes where the node stood."""
        place = getattr(node, "location", None)
        if isinstance(node, ast.A_Expr):
            name: Any = node.name
            self._operators.append((name[-1].sval, place or 0))
            super().print_node(node)
            self._operators.pop()
            return
        if isinstance(place, int) and place >= 0:
            self._places.append((self._written, place))
        own = _OWN.get(type(node))
        if own is None:
            super().print_node(node, is_name, is_symbol)
        else:
            own(node, self)
            self.separator()

    def original(self, position: int) -> int:
        """Where what stands at `position` (from 1, as servers count) stood in the text that was parsed, from 1."""
        found = bisect_right(self._places, (position - 1, len(self._places) << 32)) - 1
        return self._places[found][1] + 1 if found >= 0 else 1


def _type_name(node: Any, output: Writer) -> None:
    """`schema.name(modifiers)[]`: the words that SQL has for types (TIMESTAMP WITH …) say the same in several ways."""
    output.swrite(".".join(maybe_double_quote_name(part.sval) for part in node.names))
    if node.typmods:
        output.write("(")
        output.print_list(node.typmods, ",", standalone_items=False)
        output.write(")")
    output.write("[]" * len(node.arrayBounds or ()))


def _type_cast(node: Any, output: Writer) -> None:
    output.swrite("CAST(")
    with output.push_expr_context(ExprContext.A_EXPR):
        output.print_node(node.arg)
    output.swrite("AS ")
    output.print_node(node.typeName)
    output.write(")")


def _sample(node: Any, output: Writer) -> None:
    output.print_node(node.relation)
    output.swrite("TABLESAMPLE ")
    output.print_name(node.method)
    output.write("(")
    output.print_list(node.args, ",")
    output.write(")")
    if node.repeatable is not None:
        output.swrite("REPEATABLE (")
        output.print_node(node.repeatable)
        output.write(")")


def _sort(node: Any, output: Writer) -> None:
    output.print_node(node.node)
    if node.sortby_dir == enums.SortByDir.SORTBY_USING:
        output.swrite("USING OPERATOR(")
        output.print_symbol(node.useOp)
        output.write(")")
    elif node.sortby_dir != enums.SortByDir.SORTBY_DEFAULT:
        output.swrite("ASC" if node.sortby_dir == enums.SortByDir.SORTBY_ASC else "DESC")
    if node.sortby_nulls != enums.SortByNulls.SORTBY_NULLS_DEFAULT:
        first = node.sortby_nulls == enums.SortByNulls.SORTBY_NULLS_FIRST
        output.swrite("NULLS FIRST" if first else "NULLS LAST")


_OWN = {
    ast.TypeName: _type_name,
    ast.TypeCast: _type_cast,
    ast.RangeTableSample: _sample,
    ast.SortBy: _sort,
}
