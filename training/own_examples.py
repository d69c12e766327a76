"""The adapter's examples that are not Spider's: pairs of our own over small schemas (`worked_examples.jsonl`).

    python -m training.own_examples --out FILE

They have what Spider's lack: dates and spans of time, shares, flags. Their prompts hold no values.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

import msgspec

from engine.decoding.writer import FENCE
from engine.llm.embedded.chat import chat_tokens
from engine.llm.embedded.runtime import Runtime
from engine.prompting.prompts import prompt
from pgparley.config import load
from training.adapter_examples import AdapterExample


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and its statement."""

    question: str
    sql: str


@dataclass(frozen=True, slots=True)
class OwnSchema:
    """A schema with its pairs. `tables`: a line each, as `engine.prompting.schema_text` writes them."""

    schema: str
    tables: tuple[str, ...]
    pairs: tuple[Pair, ...]


def own_schemas() -> list[OwnSchema]:
    """All of them, in the file's order."""
    text = resources.files(__package__).joinpath("worked_examples.jsonl").read_bytes()
    return [msgspec.json.decode(line, type=OwnSchema) for line in text.splitlines()]


def main() -> int:
    """Writes the examples; returns 0."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    given = parser.parse_args()
    runtime = Runtime(replace(load(None).embedded_model, context=512, sequences=1))
    with given.out.open("wb") as file:
        for schema in own_schemas():
            for number, pair in enumerate(schema.pairs):
                user = prompt(
                    "generate_user", schema="\n".join(schema.tables), values="", question=pair.question
                )
                example = AdapterExample(
                    f"own-{schema.schema}-{number}",
                    f"own-{schema.schema}",
                    tuple(chat_tokens(runtime, prompt("generate_system"), user, f"{FENCE}sql\n")),
                    tuple(runtime.tokenize(f"{pair.sql}\n{FENCE}")),
                )
                file.write(msgspec.json.encode(example) + b"\n")
    runtime.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
