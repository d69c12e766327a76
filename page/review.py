"""What somebody has to look at: how schemas changed, what users taught, what the model suggests and costs.

Owns the readings; their templates name the columns.
"""

from __future__ import annotations

SHOWN = 200
"""Lines of a list at most, the newest."""

CHANGES = f"""
    SELECT id AS number, database, what, kind, old, new, detail, breaks, found_at, state, decided_by, decided_at
    FROM nl_catalog.drift ORDER BY state <> 'proposed', found_at DESC, id DESC LIMIT {SHOWN}
"""  # noqa: S608 - a constant
"""Differences between two snapshots, proposed renames first. `breaks`: what was said of it, and what reads it."""

EXAMPLES = f"""
    SELECT example AS number, database, asker, question, sql, kind, learned_at, approved_at, approved_by, preferences
    FROM nl_catalog.learned WHERE kind <> 'rejected'
    ORDER BY approved_at IS NOT NULL, learned_at DESC, example DESC LIMIT {SHOWN}
"""  # noqa: S608 - a constant
"""What somebody chose or corrected: what waits for approval first. `preferences`: what that says of their words."""

SUGGESTIONS = f"""
    SELECT id AS number, database, element, kind, suggestion, suggested_at FROM nl_catalog.suggestions
    WHERE state = 'proposed' ORDER BY database, element, kind, id LIMIT {SHOWN}
"""  # noqa: S608 - a constant
"""Descriptions and synonyms that nobody has decided on, by element."""

TOKEN_USE = f"""
    SELECT day, role, person, questions, tokens, money, tokens_a_day AS budget FROM nl_catalog.token_use
    ORDER BY day DESC, tokens DESC, role, person LIMIT {SHOWN}
"""  # noqa: S608 - a constant
"""What questions of a day took, who used most tokens first. `budget`: of today; null: none, or another day."""

LIMITS = "SELECT * FROM nl_catalog.quotas ORDER BY role, person"
"""What roles, and people behind them, may ask; null: as much as they like."""
