"""Rules about patterns: how letters are compared."""

from __future__ import annotations

from sqlglot import exp

from engine.rewrite.rule import Context, Statement


def ignore_case(statement: Statement, _context: Context) -> str | None:
    """Compares patterns without case: who asks for names with an "a" in them means Anna as well.

    Not a pattern without letters.
    """
    found = [each for each in statement.tree.find_all(exp.Like) if _has_letters(each.expression)]
    for each in found:
        each.replace(exp.ILike(this=each.this, expression=each.expression))
    return "ignores upper and lower case" if found else None


def _has_letters(pattern: exp.Expr) -> bool:
    return any(each.isalpha() for literal in pattern.find_all(exp.Literal) for each in literal.name)
