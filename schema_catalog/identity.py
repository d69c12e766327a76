"""Which database of which cluster a connection leads to.

Owns the query for it. Names do not identify a database: two clusters may have databases, and roles, of the same names.
A physical copy of a cluster (a standby, a restored base backup) has the identity of its original.
"""

from __future__ import annotations

import asyncpg

from schema_catalog.pg import Connection

# Everything is named with its schema, so that it means the same in anybody's session. Every role may read it unless
# a DBA revoked that (docs 9.28, control data functions).
IDENTITY_QUERY = """
    SELECT pg_catalog.concat(c.system_identifier, '/', d.oid)
    FROM pg_catalog.pg_control_system() AS c, pg_catalog.pg_database AS d
    WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
"""
"""One row of one text, such as `7423561190340012345/16384`: the cluster's system identifier and the database's OID.

Raises 42501 where the role may not call `pg_control_system()`, which ends a transaction that is open.
"""


async def read_identity(connection: Connection) -> str | None:
    """The result of `IDENTITY_QUERY` outside of a transaction; None where the server refuses."""
    try:
        identity: str = await connection.fetchval(IDENTITY_QUERY)
    except asyncpg.PostgresError:
        return None
    return identity
