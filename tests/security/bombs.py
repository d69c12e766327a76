"""Statements that cost a server or its reader dearly, and pass the guard, which does not judge cost."""

from __future__ import annotations

CPU = (
    # Folded while planning, in one call that looks for no interrupt until it is done (seconds).
    "SELECT length(translate(lpad('', 1000000, 'abc'), lpad('', 2000, 'x'), ''))",
    "SELECT length(replace(lpad('', 2000000, 'ab'), 'b', lpad('', 50, 'b')))",
    "SELECT power(9.9::numeric, 9999.9) * exp(5000::numeric)",
    "SELECT count(*) FROM generate_series(1, 1000000000000) AS g",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r",
    "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b",
    "SELECT regexp_replace(lpad('', 100000, 'ab'), '(a|b)*(ba)*$', 'x', 'g')",
)
"""For the processor."""

MEMORY = (
    "SELECT lpad('', 80000000, 'x') FROM generate_series(1, 20)",
    "SELECT lpad('', 80000000 + g, 'x') FROM generate_series(1, 20) AS g",
    "SELECT " + ", ".join(f"lpad('', 8000000, '{n}') AS c{n}" for n in range(10)),
    "SELECT json_agg(g) FROM generate_series(1, 3000000) AS g",
    "SELECT array_agg(g) FROM generate_series(1, 5000000) AS g",
    "SELECT string_agg(lpad('', 1000, 'x'), ',') FROM generate_series(1, 80000)",
    "SELECT string_to_table(lpad('', 20000000, 'x,'), ',')",
)
"""For whoever holds the rows."""

OWN = "SELECT c FROM {schema}.burn"
"""A view of the asker's own over a loop that swallows its cancelling; `PLANT` makes it."""

PLANT = """
CREATE FUNCTION {schema}.loop() RETURNS int LANGUAGE plpgsql AS $$
    BEGIN
        LOOP
            BEGIN
                LOOP PERFORM 1; END LOOP;
            EXCEPTION WHEN query_canceled THEN NULL;
            END;
        END LOOP;
    END $$;
CREATE VIEW {schema}.burn AS SELECT {schema}.loop() AS c;
"""
