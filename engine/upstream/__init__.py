"""Statements on the registered databases, as the asker: in the asker's own session, or under a login of theirs.

The second wall. No connection here can become somebody else: nothing is ever lent by SET ROLE.
"""

from __future__ import annotations

from engine.upstream.databases import Databases

__all__ = ["Databases"]
