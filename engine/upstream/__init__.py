"""Statements on the registered databases, as the asker: in the asker's own session, or under a login of theirs.

The second wall. No connection changes its role: SET ROLE is never used.
"""

from __future__ import annotations

from engine.upstream.databases import Databases

__all__ = ["Databases"]
