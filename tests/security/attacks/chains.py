"""What role_a replaces after others have asked: the object is trusted, what it lies in is not."""

from __future__ import annotations

from dataclasses import dataclass

_A = "role_a"
_ADMIN = "postgres"
_B = "role_b"

_PLANT = """CREATE FUNCTION {}.{}(text, text) RETURNS int LANGUAGE plpgsql IMMUTABLE
    AS $$ BEGIN PERFORM a.spy(); RETURN 1; END $$"""

_TABLE = (_B, "CREATE TABLE b.words (w text); INSERT INTO b.words VALUES ('kitten')")


@dataclass(frozen=True, slots=True)
class Chain:
    """One way. `before`: (role, SQL) until role_b asks `statement`; `after`: what follows while that is remembered.

    `allowed`: what a DBA allows by name.
    """

    name: str
    before: tuple[tuple[str, str], ...]
    after: tuple[tuple[str, str], ...]
    statement: str
    allowed: tuple[str, ...] = ()


_ASKED = "SELECT {}levenshtein(w, 'sitting') FROM b.words"

CHAINS = (
    Chain(
        "extension in role_a's schema",
        ((_A, "CREATE EXTENSION fuzzystrmatch SCHEMA a"), _TABLE),
        ((_A, "DROP EXTENSION fuzzystrmatch"), (_A, _PLANT.format("a", "levenshtein"))),
        _ASKED.format("a."),
    ),
    Chain(
        "extension of role_a's in a schema in which it may create",
        ((_A, "CREATE EXTENSION fuzzystrmatch SCHEMA public"), _TABLE),
        ((_A, "DROP EXTENSION fuzzystrmatch"), (_A, _PLANT.format("public", "levenshtein"))),
        _ASKED.format(""),
    ),
    Chain(
        "superuser's extension in role_a's schema",
        ((_ADMIN, "CREATE EXTENSION fuzzystrmatch SCHEMA a"), _TABLE),
        ((_ADMIN, "DROP EXTENSION fuzzystrmatch"), (_A, _PLANT.format("a", "levenshtein"))),
        _ASKED.format("a."),
    ),
    Chain(
        "function that a DBA allowed in role_a's schema",
        (
            (
                _ADMIN,
                "CREATE FUNCTION a.likeness(text, text) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 0'",
            ),
            _TABLE,
        ),
        ((_A, "DROP FUNCTION a.likeness"), (_A, _PLANT.format("a", "likeness"))),
        "SELECT a.likeness(w, 'x') FROM b.words",
        allowed=("a.likeness",),
    ),
    Chain(
        "overload of role_a's own, remembered as trusted",
        (
            (
                _ADMIN,
                "CREATE SCHEMA types; GRANT USAGE ON SCHEMA types TO PUBLIC;"
                " CREATE EXTENSION citext SCHEMA types",
            ),
            (_B, "CREATE TABLE b.words (w types.citext); INSERT INTO b.words VALUES ('kitten')"),
            (
                _A,
                """CREATE TABLE a.words (w types.citext); INSERT INTO a.words VALUES ('x');
                CREATE FUNCTION a.md5(types.citext) RETURNS text LANGUAGE plpgsql IMMUTABLE
                    AS $$ BEGIN PERFORM a.spy(); RETURN 'x'; END $$""",
            ),
        ),
        (),
        "SELECT md5(w) FROM b.words",
    ),
    Chain(
        "schema that was opened to role_a",
        (
            (
                _ADMIN,
                "REVOKE CREATE ON SCHEMA public FROM role_a, PUBLIC;"
                " CREATE EXTENSION fuzzystrmatch SCHEMA public",
            ),
            _TABLE,
        ),
        (
            (_ADMIN, "DROP EXTENSION fuzzystrmatch; GRANT CREATE ON SCHEMA public TO role_a"),
            (_A, _PLANT.format("public", "levenshtein")),
        ),
        _ASKED.format(""),
    ),
    Chain(
        "schema that became role_a's",
        (
            (
                _ADMIN,
                "CREATE SCHEMA types; GRANT USAGE ON SCHEMA types TO PUBLIC;"
                " CREATE EXTENSION fuzzystrmatch SCHEMA types",
            ),
            _TABLE,
        ),
        (
            (_ADMIN, "DROP EXTENSION fuzzystrmatch; ALTER SCHEMA types OWNER TO role_a"),
            (_A, _PLANT.format("types", "levenshtein")),
        ),
        _ASKED.format("types."),
    ),
)

HONEST = CHAINS[4:]
"""Those of which everything is trusted until somebody plants: before that, others get rows; of the rest never."""

OPENED = CHAINS[5]
