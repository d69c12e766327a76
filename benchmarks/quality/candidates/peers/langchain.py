"""LangChain: `create_sql_query_chain` over its `SQLDatabase`, which reads schemas and three rows of each table.

The chain gives the model's text as it is. What stands around the statement (a label, a code fence, what would come
after it) is taken off here, as everybody who runs the result has to.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module

from benchmarks.quality.candidates.tasks import Place

_FENCED = re.compile(r"```(?:postgresql|sql)?\s*(.*?)(?:```|$)", re.DOTALL | re.IGNORECASE)


def make(place: Place, url: str, model: str) -> Callable[[str], str]:
    """A chain's answers."""
    chains = import_module("langchain_classic.chains")
    utilities = import_module("langchain_community.utilities")
    openai = import_module("langchain_openai")
    path = f"options=-csearch_path%3D{place.database.search_path[0]}"
    uri = place.database.dsn.replace("postgresql://", "postgresql+psycopg://", 1)
    chat = openai.ChatOpenAI(base_url=url, api_key="none", model=model, temperature=0)
    chain = chains.create_sql_query_chain(chat, utilities.SQLDatabase.from_uri(f"{uri}&{path}"))
    return lambda question: statement(str(chain.invoke({"question": question})))


def statement(text: str) -> str:
    """The SQL in an answer."""
    text = text.rpartition("SQLQuery:")[2].partition("\nSQLResult:")[0]
    fenced = _FENCED.search(text)
    return (fenced.group(1) if fenced else text).strip()
