"""The SQL of who is trusted, and where it is put."""

from __future__ import annotations

import pytest

from schema_catalog.privileges import SERVERS_OWN, trusted_roles, with_trusted_roles


def test_roles_of_the_server_are_trusted_only_where_that_is_asked_for() -> None:
    assert "16384" not in trusted_roles("$1::text[]")
    assert f"OR {SERVERS_OWN}" in trusted_roles("$1::text[]", SERVERS_OWN)
    query = with_trusted_roles("WITH trusted (oid) AS (:trusted_roles) TABLE trusted", "$7::text[]")
    assert query == f"WITH trusted (oid) AS ({trusted_roles('$7::text[]')}) TABLE trusted"
    with pytest.raises(ValueError, match="has no :trusted_roles"):
        with_trusted_roles("SELECT 1", "$1::text[]")
