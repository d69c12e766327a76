"""Random combinations of what role_a can plant: types, casts, domains, tables, what hangs on them, and views above.

Owns the drawing alone. Names carry numbers, so that parts go together in any number; every script is one that
PostgreSQL takes, on the version that it is drawn for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st

from tests.security.attacks import Attack


@dataclass(frozen=True, slots=True)
class _Kind:
    """A column's type: what declares it, its name, a value, and what a statement may do with the column `{c}`."""

    declared: str
    type: str
    value: str
    uses: tuple[str, ...]


_CONTEXTS = ("", "AS ASSIGNMENT", "AS IMPLICIT")

_CASTS = {
    "text": ("'x'", ("{c}::text", "length({c}::text)")),
    "int": ("1", ("{c}::int", "sum({c}::int) OVER ()")),
    "boolean": ("true", ("{c}::boolean", "CASE WHEN {c}::boolean THEN 1 END")),
    "numeric": ("1", ("round({c}::numeric)",)),
    "json": ("'{}'", ("to_json({c})", "jsonb_build_array({c})", "row_to_json(r)")),
    "jsonb": ("'{}'", ("{c}::jsonb",)),
}


@st.composite
def _enum(draw: st.DrawFn, n: int) -> _Kind:
    made = [f"CREATE TYPE a.e{n} AS ENUM ('one', 'two');"]
    uses: list[str] = ["{c}", "coalesce({c}, 'one')"]
    for target in draw(st.sets(st.sampled_from(sorted(_CASTS)), min_size=1, max_size=3)):
        value, ways = _CASTS[target]
        made.append(
            f"""CREATE FUNCTION a.e{n}_{target}(a.e{n}) RETURNS {target} LANGUAGE plpgsql IMMUTABLE
                    AS $$ BEGIN PERFORM a.spy(); RETURN {value}; END $$;
                CREATE CAST (a.e{n} AS {target}) WITH FUNCTION a.e{n}_{target}(a.e{n})
                    {draw(st.sampled_from(_CONTEXTS))};"""
        )
        uses.extend(ways)
    return _Kind("".join(made), f"a.e{n}", "one", tuple(uses))


@st.composite
def _domain(draw: st.DrawFn, n: int) -> _Kind:
    declared = f"CREATE DOMAIN a.d{n} AS text CHECK (a.spy_text(VALUE) <> 'never');"
    shape = draw(st.sampled_from(["array", "row", "range", "rows"]))
    if shape == "array":
        uses = ("coalesce({c}, '{{boom}}')", "{c} || '{{boom}}'", "{c} && '{{boom}}'")
        return _Kind(declared, f"a.d{n}[]", "{x}", uses)
    declared += f"CREATE TYPE a.c{n} AS (w a.d{n});"
    if shape == "row":
        return _Kind(declared, f"a.c{n}", "(x)", ("coalesce({c}, '(boom)')", "{c} IN ('(boom)', '(bang)')"))
    if shape == "rows":
        return _Kind(declared, f"a.c{n}[]", "{}", ("array_append({c}, '(boom)')", "{c} = '{{(boom)}}'"))
    declared += f"CREATE TYPE a.r{n} AS RANGE (subtype = a.d{n});"
    return _Kind(declared, f"a.r{n}", "[a,b]", ("{c} && '[boom,boom]'", "coalesce({c}, 'empty')"))


def _span(n: int) -> st.SearchStrategy[_Kind]:
    declared = f"""CREATE FUNCTION a.gap{n}(float8, float8) RETURNS float8 LANGUAGE plpgsql IMMUTABLE
                       AS $$ BEGIN PERFORM a.spy(); RETURN $1 - $2; END $$;
                   CREATE TYPE a.s{n} AS RANGE (subtype = float8, subtype_diff = a.gap{n});"""
    uses = ("{c} && '[2,3)'", "{c} <@ '[0,9)'", "{c} @> 2::float8")
    return st.just(_Kind(declared, f"a.s{n}", "[1,5)", uses))


@st.composite
def _text(draw: st.DrawFn, n: int) -> _Kind:
    use = draw(st.sampled_from(["{c}", "upper({c})", "{c} = 'x'", "{c} LIKE 'x%'"]))
    return _Kind("", draw(st.sampled_from(["text", "varchar"])), "x", (use,))


_HANGING = (
    "CREATE INDEX ON {t} (id) WHERE a.spy_text('x') = 'x';",
    "CREATE INDEX ON {t} ((a.spy_int(1) + id));",
    "ALTER TABLE {t} ENABLE ROW LEVEL SECURITY; ALTER TABLE {t} FORCE ROW LEVEL SECURITY;"
    " CREATE POLICY p ON {t} USING (a.spy_int(id) = id);",
    "CREATE TABLE {t}_child (CHECK (a.spy_int(1) = 1)) INHERITS ({t}); INSERT INTO {t}_child TABLE {t};",
    "ALTER TABLE {t} ADD CHECK (a.spy_int(id) = id);",
)
_HANGING_SINCE_14 = ("CREATE STATISTICS a.st (mcv) ON (a.spy_int(1) + id), id FROM {t};",)

_SHADOWS = (
    "CREATE FUNCTION public.upper(varchar) RETURNS text LANGUAGE sql AS 'SELECT a.spy_text($1)';",
    """CREATE FUNCTION public.sly(varchar, text) RETURNS boolean LANGUAGE sql AS 'SELECT a.spy()';
       CREATE OPERATOR public.= (LEFTARG = varchar, RIGHTARG = text, FUNCTION = public.sly);""",
)

_VIEWS = (
    "SELECT * FROM {t}",
    "SELECT * FROM {t} WHERE a.spy_int(id) = id",
    "SELECT * FROM {t} WHERE a.spy()",
    "SELECT * FROM {t} UNION ALL SELECT * FROM {t}",
)

_STATEMENTS = (
    "SELECT {use} FROM {t} r",
    "SELECT {use} FROM {t} r WHERE id = 1",
    "WITH w AS (SELECT * FROM {t}) SELECT {use} FROM w r",
    "SELECT 1 FROM {t} r ORDER BY {use}",
    "SELECT count(*) FROM {t} r JOIN {t} q USING (id) WHERE ({use}) IS NOT NULL",
    "SELECT {use} FROM (SELECT * FROM {t} UNION ALL SELECT * FROM {t}) r WHERE id = 1",
)


@st.composite
def plantings(draw: st.DrawFn, version: int) -> Attack:
    """A table of up to three columns, what hangs on it, up to three views above it, and statements on the top."""
    kinds: list[Callable[[int], st.SearchStrategy[_Kind]]] = [_enum, _domain, _span, _text]
    columns = [draw(draw(st.sampled_from(kinds))(n)) for n in range(draw(st.integers(1, 3)))]
    script = ["".join(kind.declared for kind in columns)]
    named = ", ".join(f"x{n} {kind.type}" for n, kind in enumerate(columns))
    values = ", ".join(f"'{kind.value}'" for kind in columns)
    script.append(f"CREATE TABLE a.t (id int, {named}); INSERT INTO a.t SELECT i, {values}")
    script.append(" FROM generate_series(1, 20) AS i;")
    hanging = _HANGING + (_HANGING_SINCE_14 if version >= 14 else ())
    script.extend(draw(st.sets(st.sampled_from(sorted(hanging)), max_size=3)))
    script.extend(draw(st.sets(st.sampled_from(sorted(_SHADOWS)), max_size=1)))
    script.append("ANALYZE a.t;")
    top, victim = "a.t", ""
    for n in range(draw(st.integers(0, 3))):
        barrier = draw(st.sampled_from(["", "WITH (security_barrier)"]))
        body = draw(st.sampled_from(_VIEWS)).format(t=top)
        if draw(st.booleans()) or victim:
            top = f"b.v{n}"
            victim += f"CREATE VIEW {top} {barrier} AS {body};"
        else:
            top = f"a.v{n}"
            script.append(f"CREATE VIEW {top} {barrier} AS {body};")
    uses = [use.format(c=f"r.x{n}") for n, kind in enumerate(columns) for use in kind.uses]
    shapes = draw(st.lists(st.sampled_from(_STATEMENTS), min_size=1, max_size=2, unique=True))
    chosen = [shape.format(t=top, use=draw(st.sampled_from(uses))) for shape in shapes]
    script = [part.format(t="a.t") if "{t}" in part else part for part in script]
    return Attack("combination", "".join(script), tuple(chosen), victim=victim)
