"""Vanna (`vanna.legacy`): trained with the database's DDL, then asked for the SQL of a question.

Its store is its own FAISS one, in memory, with the sentence encoder that it uses by default (all-MiniLM-L6-v2), from
the package that we install. Ten DDL statements at most are retrieved for a question and the temperature is 0.7: its
defaults. It says what it does on standard output: that is swallowed.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from importlib import import_module
from typing import Any

import openai

from benchmarks.quality.candidates.ddl import ddl
from benchmarks.quality.candidates.tasks import Place
from engine.models.encoder import packaged_model

RETRIEVED = 10
"""DDL statements for a question at most: Vanna's default."""


def make(place: Place, url: str, model: str) -> Callable[[str], str]:
    """A trained instance's `generate_sql`."""
    store: Any = import_module("vanna.legacy.faiss.faiss").FAISS
    chat: Any = import_module("vanna.legacy.openai.openai_chat").OpenAI_Chat

    class Instance(store, chat):  # type: ignore[misc]  # known when it runs, once the extra is there
        """A store and a model, joined as its documentation joins them."""

        def __init__(self, client: openai.OpenAI, config: dict[str, Any]) -> None:
            store.__init__(self, config=config)
            chat.__init__(self, client=client, config=config)

    statements = ddl(place.snapshot)
    config: dict[str, Any] = {"n_results_ddl": min(RETRIEVED, len(statements))}
    config |= {"client": "in-memory", "embedding_model": str(packaged_model()), "dialect": "PostgreSQL"}
    # Its metadata would be read from the working directory.
    config |= {"model": model, "path": "/nonexistent"}
    with contextlib.redirect_stdout(io.StringIO()):
        instance = Instance(openai.OpenAI(base_url=url, api_key="none"), config)
        for statement in statements:
            instance.train(ddl=statement)

    def write(question: str) -> str:
        with contextlib.redirect_stdout(io.StringIO()):
            return str(instance.generate_sql(question))

    return write
