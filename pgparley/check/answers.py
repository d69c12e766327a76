"""Advice of `pgparley check`: what the catalog lacks for good answers. Nothing of it is a problem.

Owns the words; what is missing `schema_catalog.gaps` says, as on the page.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import asyncpg

from engine.question.comments import legend
from engine.values.settings import Strategy
from pgparley.check.finding import Finding, said, warning
from pgparley.config import Config
from schema_catalog.gaps import Gap, GapKind, Gaps, gaps
from schema_catalog.naming import quote_literal
from schema_catalog.pg import Connection

_WORST = 3
"""Names of one kind that are shown."""

_LEGEND = "A legend is read in this form: N new, P paid; or: 10 = open, 20 = paid."


def explains(description: str) -> bool:
    """Whether a description says what codes mean, in a form that questions use."""
    return bool(legend(description))


async def check_answers(config: Config, connection: Connection) -> AsyncIterator[Finding]:
    """A finding for each kind of gap in a database, and for house rules that no model reads."""
    try:
        found = await gaps(connection, explains)
        ruled = await connection.fetch(
            "SELECT database FROM nl_catalog.databases WHERE rules <> '' ORDER BY 1"
        )
    except (asyncpg.PostgresError, TimeoutError) as error:
        yield warning(
            "answers", f"what keeps them from being good cannot be read: {said(error)}", "Try again."
        )
        return
    for each in found:
        yield _advice(each)
    if _follows_no_rules(config):
        for row in ruled:
            yield warning(
                f"house rules of {row['database']}",
                "the model gets none of them",
                "Define terms instead: SELECT nl_catalog.define_term("
                f"{quote_literal(row['database'])}, 'term', 'SQL'); or use a model that follows instructions.",
            )


def _advice(found: Gaps) -> Finding:
    worst = ", ".join(map(_named, found.all[:_WORST]))
    action = f"{found.all[0].statement};"
    if found.kind is GapKind.CODES:
        action += f"\n{_LEGEND}"
    where = found.database or "no database"
    return warning(f"answers of {where}", f"{len(found.all)} {found.words}: {worst}", action)


def _named(gap: Gap) -> str:
    if not gap.questions:
        return gap.what
    return f"{gap.what} ({gap.questions} {'question' if gap.questions == 1 else 'questions'})"


def _follows_no_rules(config: Config) -> bool:
    """Whether statements are searched for, by a prompt without rules."""
    strategy, model = config.generation.strategy, config.model
    by_search = model.base_url is None or model.small
    return strategy is Strategy.SEARCH or (strategy is Strategy.AUTO and by_search)
