"""The roles whose code may run with the rights of those who read their objects.

Owns the SQL fragment alone, not the queries around it.
"""

from __future__ import annotations

SERVERS_OWN = "r.oid < 16384"
"""For `also`: roles that came with the server (`FirstNormalObjectId`), such as the owner of the schema public."""

_MARKER = ":trusted_roles"


def trusted_roles(names: str, also: str = "false") -> str:
    """A SELECT of OIDs, each once: superusers, the database's owner, the roles called `names`, those that fit `also`.

    Both are SQL: `names` an array of text, `also` a condition over `r`, a row of pg_roles.
    """
    return f"""
    SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolsuper OR r.rolname = ANY ({names}) OR {also}
    UNION
    SELECT d.datdba FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database()
"""  # noqa: S608  both come from code, never from data


def with_trusted_roles(query: str, names: str, also: str = "false") -> str:
    """`query` with `trusted_roles` in place of its one `:trusted_roles`; raises `ValueError` where it has none."""
    before, marker, after = query.partition(_MARKER)
    if not marker:
        raise ValueError(f"the query has no {_MARKER}")
    return f"{before}{trusted_roles(names, also)}{after}"
