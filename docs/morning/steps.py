"""What a DBA types in psql in a morning, step by step, and what has to come of it. Owns the words alone."""

from __future__ import annotations

from dataclasses import dataclass

from pgparley.demo.prepare import STORE

DATABASES = ("sales", "library", "airports")
"""Those of the demo that are registered."""

QUESTION = "How many punters do we have?"
"""A company's own word for its customers: nothing in the schema says it."""

WORD = "punter"
"""The word that failed, in its singular."""

COUNTED = "SELECT count(*) FROM customers"

VOLUME = "What was the GMV of each region?"
"""Asked once the catalog knows what GMV is."""

BORROWED = "Which book was borrowed most often?"

MOST_BORROWED = (
    "SELECT b.title FROM loans l JOIN books b USING (book_id)"
    " GROUP BY b.book_id ORDER BY count(*) DESC, b.book_id LIMIT 1"
)

TERMS = (
    ("big customer", "customers.total_revenue >= 20000", "in all years together"),
    ("return rate", "sum(orders.returned) / sum(orders.gross_sales)", "share of gross sales, by value"),
)
"""Term, definition, description."""

RENAMED_TERM = (
    "return rate",
    "sum(orders.returned) / sum(orders.gross_amount)",
    "share of gross sales, by value",
)
"""The second one, after its column was renamed."""

DBT = "sales.yml"
"""The dbt file, beside this module."""


@dataclass(frozen=True, slots=True)
class Wait:
    """A look at the store until it gives true: what a person would see when looking again. `what`: in words."""

    what: str
    query: str


@dataclass(frozen=True, slots=True)
class Typed:
    """A line of psql. `shows`: a pattern of what it prints; `after`: what has to have come about before."""

    text: str
    shows: str = ""
    after: Wait | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """`why`: what the reader is told before the lines."""

    title: str
    why: str
    lines: tuple[Typed, ...]


REGISTERED = Wait(
    "the engine has registered and read all three",
    f"SELECT count(refreshed_at) = {len(DATABASES)} FROM nl_catalog.databases",  # noqa: S608 - of our own number
)
CHECKED = Wait(
    "the engine has checked what was defined",
    "SELECT bool_and(state = 'checked') FROM pgparley.definition",
)
PROPOSED = Wait(
    "the engine has read the schema again",
    "SELECT EXISTS (SELECT FROM nl_catalog.drift WHERE state = 'proposed')",
)
REFUSED = Wait(
    "the engine has checked the definitions by the new schema",
    "SELECT bool_or(state = 'refused') FROM pgparley.definition",
)

_DBA, _ANALYST = Typed(f"\\c {STORE} dora"), Typed("\\c sales analyst")
_TERMS = "SELECT term, definition, state, reason FROM nl_catalog.terms;"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _call(function: str, *arguments: str) -> str:
    return f"SELECT nl_catalog.{function}({', '.join(map(_quoted, arguments))});"


STEPS = (
    Step(
        "Register three databases",
        "They are on the store's server, so their names will do. An engine reads their schemas meanwhile.",
        (
            *(Typed(_call("register", name)) for name in DATABASES),
            Typed(
                "SELECT database, refreshed_at IS NOT NULL AS read, problem FROM nl_catalog.databases;",
                r"sales +\| t",
                REGISTERED,
            ),
        ),
    ),
    Step(
        "See their health",
        "What is lacking, and which columns share a name that no description tells apart.",
        (
            Typed(
                "SELECT database, problem, count(*) FROM nl_catalog.health GROUP BY 1, 2 ORDER BY 1, 2;",
                r"sales +\| column without description",
            ),
            Typed(
                "SELECT element, detail FROM nl_catalog.health"
                " WHERE database = 'sales' AND problem = 'ambiguous name' ORDER BY detail, element;",
                "sales.public.departments_2022.budget",
            ),
        ),
    ),
    Step(
        "Import what the dbt project says",
        "The file is on the client, hence `\\!`."
        " Where the database has a comment of its own, that one counts.",
        (
            Typed(f"\\! pgparley catalog import {DBT} --from dbt --database sales", r"returns"),
            Typed(
                "SELECT element, comment, imported FROM nl_catalog.conflicts;",
                "Orders as they were booked",
            ),
            Typed(
                "SELECT problem, count(*) FROM nl_catalog.health WHERE database = 'sales' GROUP BY 1 ORDER BY 1;",
                "conflict",
            ),
        ),
    ),
    Step(
        "Define two terms",
        "An engine checks each before it counts.",
        (
            *(Typed(_call("define_term", "sales", *term)) for term in TERMS),
            Typed(_TERMS, r"big customer.*checked", CHECKED),
        ),
    ),
    Step(
        "Hide a table",
        "The departments of an older organisation are in the way of questions; plain SQL reads them as before.",
        (
            Typed(_call("hide", "sales.departments_2022")),
            Typed(
                "SELECT element FROM nl_catalog.tables WHERE hidden;",
                "sales.public.departments_2022",
            ),
        ),
    ),
    Step(
        "Verify a query",
        "The statement that answers a question from now on, for everybody who may read what it reads.",
        (
            Typed(_call("verify", "library", BORROWED, MOST_BORROWED)),
            Typed(
                "SELECT question, state, owner FROM nl_catalog.verified_queries;",
                r"borrowed.*checked",
                CHECKED,
            ),
            Typed("\\c library analyst"),
            Typed(f"NL: {BORROWED}\n;", r"kind +\| verified"),
            Typed("NL CHOOSE 1;", "title"),
        ),
    ),
    Step(
        "A question fails",
        "The sales people say punters. Nothing in the database does.",
        (_ANALYST, Typed(f"NL: {QUESTION}\n;", r"kind +\| abstain")),
    ),
    Step(
        "Mend it",
        "The catalog knows which word it was. A synonym says it, and the question gets the statement that answers it."
        " GMV, which the company says as well, becomes a synonym at once. The analyst asks again.",
        (
            _DBA,
            Typed("SELECT question, outcome, words FROM nl_catalog.failed_questions;", WORD),
            Typed(_call("add_synonym", "sales.customers", WORD)),
            Typed(_call("verify", "sales", QUESTION, COUNTED)),
            Typed(_call("add_synonym", "sales.orders.gross_sales", "GMV")),
            Typed("SELECT question, state FROM nl_catalog.verified_queries;", r"punters.*checked", CHECKED),
            _ANALYST,
            Typed(f"NL: {QUESTION}\n;", "verified"),
            Typed("NL CHOOSE 1;", r"\(1 row\)"),
            Typed(f"NL: {VOLUME}\n;", "gross_sales"),
            Typed("NL CHOOSE 1;", "Midwest"),
        ),
    ),
    Step(
        "Rename a column, and accept the drift",
        "The owner renames it in the database. A running engine notices by itself within minutes;"
        " `refresh` has it look now."
        " The synonym goes along. The term is refused until somebody says it anew.",
        (
            Typed("\\c sales postgres"),
            Typed("ALTER TABLE orders RENAME COLUMN gross_sales TO gross_amount;", "ALTER TABLE"),
            _DBA,
            Typed(_call("refresh", "sales")),
            Typed(
                "SELECT id, old, new, breaks FROM nl_catalog.drift WHERE state = 'proposed';",
                r"orders\.gross_amount",
                PROPOSED,
            ),
            Typed("SELECT nl_catalog.accept_rename(1);"),
            Typed(_TERMS, r"gross_sales.*refused", REFUSED),
            Typed(_call("define_term", "sales", *RENAMED_TERM)),
            Typed(_TERMS, r"gross_amount.*checked", CHECKED),
            _ANALYST,
            Typed(f"NL: {VOLUME}\n;", r"gross_amount"),
            Typed("NL CHOOSE 1;", "Midwest"),
        ),
    ),
)
"""The morning."""
