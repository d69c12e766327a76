"""Seconds a question with each way to serve the embedded model: `python -m benchmarks.llm_runtime [--rounds 3]`.

A question is one statement, and then k - 1 others three at a time, each under a grammar of its own that names less of
the schema: what `engine.stages.generate` asks of the model, without the checks between. Cold: nothing of the schema is
computed; warm: another question was asked of it. Every server runs all the time, rounds are interleaved and shuffled,
and ratios are made within a round, because other work of the machine comes and goes. The ways:

- `embedded`: the product's server;
- `one slot`: llama.cpp's own server (in the same wheel), one request after the other on one slot;
- `four slots`: the same with requests at once, each slot with a cache of its own;
- `primed slots`: the same, the first request's slot saved to a file and restored to the others before they begin;
- `before` (`--before DIR`): the server of another checkout with an environment of its own, in `DIR/.venv`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks.wire.machine import describe
from engine.decoding.sql_grammar import sql_grammar
from engine.llm.client import LARK
from engine.llm.embedded.library import SPIN
from engine.llm.model_file import QWEN_CODER_1_5B
from engine.prompting.prompts import prompt
from engine.prompting.schema_text import schema_text
from pgparley.config import cache_dir
from schema_catalog.types import Column, Snapshot, Table, TableKind

ROOT = Path(__file__).parents[1]
SLOTS, CONTEXT, TOKENS = 4, 16_384, 200
KS = (1, 3, 6)

TABLES = {
    "customer": "customer_id name email city country birthday member_since points",
    "product": "product_id title brand category price weight stock released",
    "supplier": "supplier_id company contact phone city country rating",
    "store": "store_id label city country opened floor_area manager_id",
    "employee": "employee_id full_name role salary hired store_id email",
}

QUESTIONS = (
    (
        "Name and city of each customer from France",
        ("customer", ["city", "name", "email", "country", "points"]),
    ),
    (
        "What is the average price of the products of each brand?",
        ("product", ["price", "brand", "title", "category", "stock"]),
    ),
    (
        "Name, role and salary of the five best paid employees",
        ("employee", ["salary", "full_name", "role", "hired", "email"]),
    ),
    (
        "Which stores in Spain were opened before 2010?",
        ("store", ["opened", "label", "city", "country", "floor_area"]),
    ),
    (
        "Company and phone of the suppliers with a rating above 4",
        ("supplier", ["rating", "company", "phone", "contact", "city"]),
    ),
)
"""Question, and the columns that its candidates do without, one each."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running model server. `slots`: it is llama.cpp's own."""

    url: str
    pid: int
    slots: bool

    def processor_seconds(self) -> float:
        """What its process has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Figure:
    """What one question took. Tokens: of prompts computed, of prompts found in the cache, written."""

    way: str
    k: int
    warm: bool
    seconds: float
    processor_seconds: float
    computed: int
    cached: int
    written: int


class Way:
    """One way to ask: a server and, where it has slots, how they are used."""

    def __init__(self, name: str, server: Server, http: aiohttp.ClientSession) -> None:
        self._name, self._server, self._http = name, server, http

    async def ask(self, number: int, nonce: str, k: int, *, warm: bool) -> Figure:
        """Asks question `number` of the schema that only `nonce` has."""
        question, (table, columns) = QUESTIONS[number]
        masks = [
            frozenset[tuple[str, str, str]](),
            *(frozenset({("public", table, each)}) for each in columns),
        ]
        bodies = [_body(question, nonce, mask, TOKENS) for mask in masks[:k]]
        began, used = time.perf_counter(), self._server.processor_seconds()
        replies = [await self._post(bodies[0], 0)]
        if self._name == "primed slots" and k > 1:
            await self._prime()
        for first in range(1, k, 3):
            replies += await self._together(bodies[first : first + 3])
        usage = [reply["usage"] for reply in replies]
        cached = sum(each["prompt_tokens_details"]["cached_tokens"] for each in usage)
        return Figure(
            self._name,
            k,
            warm,
            time.perf_counter() - began,
            self._server.processor_seconds() - used,
            sum(each["prompt_tokens"] for each in usage) - cached,
            cached,
            sum(each["completion_tokens"] for each in usage),
        )

    async def _together(self, bodies: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if self._name == "one slot":
            return [await self._post(body, 0) for body in bodies]
        return await asyncio.gather(*(self._post(body, 1 + n) for n, body in enumerate(bodies)))

    async def _prime(self) -> None:
        for slot in range(SLOTS):
            url = f"{self._server.url}/slots/{slot}?action={'restore' if slot else 'save'}"
            async with self._http.post(url, json={"filename": "prompt.kv"}) as reply:
                reply.raise_for_status()

    async def _post(self, body: dict[str, Any], slot: int) -> dict[str, Any]:
        if self._server.slots:
            body = body | {"grammar": LARK + body["structured_outputs"]["grammar"], "id_slot": slot}
        async with self._http.post(f"{self._server.url}/v1/chat/completions", json=body) as reply:
            reply.raise_for_status()
            answer: dict[str, Any] = await reply.json()
            return answer


def _schema() -> Snapshot:
    tables = [
        Table(
            "public",
            name,
            TableKind.TABLE,
            tuple(Column(each, _type(each)) for each in columns.split()),
            (f"{name}_id",),
        )
        for name, columns in TABLES.items()
    ]
    return Snapshot("shop", ("public",), tuple(sorted(tables, key=lambda table: table.key)))


def _type(column: str) -> str:
    if column in {"birthday", "member_since", "released", "opened", "hired"}:
        return "date"
    numbers = {"points", "price", "weight", "stock", "rating", "floor_area", "salary"}
    return "integer" if column.endswith("_id") or column in numbers else "text"


def _body(question: str, nonce: str, mask: frozenset[tuple[str, str, str]], tokens: int) -> dict[str, Any]:
    shown = _schema()
    user = prompt("generate_user", schema=schema_text(shown, ())[0], values="", question=question)
    return {
        "messages": [
            {"role": "system", "content": f"{nonce} {prompt('generate_system')}"},
            {"role": "user", "content": user},
            {"role": "assistant", "content": "```sql\n"},
        ],
        "max_tokens": tokens,
        "temperature": 0,
        "logprobs": True,
        "top_logprobs": 20,
        "continue_final_message": True,
        "add_generation_prompt": False,
        "structured_outputs": {"grammar": sql_grammar(shown, mask)},
    }


@contextmanager
def embedded(tree: Path, python: Path) -> Iterator[Server]:
    """The embedded server of a checkout."""
    port = _free_port()
    environment = {**os.environ, "PGPARLEY_EMBEDDED_MODEL_PORT": str(port)}
    with _running([str(python), "-m", "pgparley.processes", "model"], port, environment, tree) as pid:
        yield Server(f"http://127.0.0.1:{port}", pid, slots=False)


@contextmanager
def slots() -> Iterator[Server]:
    """llama.cpp's own server."""
    port = _free_port()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.llm_runtime", "--serve", f"{port},{folder}/"]
        with _running(command, port, SPIN | os.environ, ROOT) as pid:
            yield Server(f"http://127.0.0.1:{port}", pid, slots=True)


def serve_slots(port: int, folder: str) -> None:
    """Serves until killed. The cache in memory is off: each slot has what was asked of it."""
    import xllamacpp  # noqa: PLC0415  in the server's process alone

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(cache_dir() / "models" / QWEN_CODER_1_5B.name)
    parameters.n_ctx, parameters.n_parallel, parameters.port = CONTEXT, SLOTS, port
    parameters.n_batch, parameters.n_ubatch, parameters.cache_ram_mib = 512, 512, 0
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = os.cpu_count() or 1
    parameters.slot_save_path = folder
    server = xllamacpp.Server(parameters)
    print(server.listening_address)
    while True:
        time.sleep(3600)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@contextmanager
def _running(command: list[str], port: int, environment: dict[str, str], tree: Path) -> Iterator[int]:
    process = subprocess.Popen(
        command, env=environment, cwd=tree, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _until_healthy(f"http://127.0.0.1:{port}/health", process)
        yield process.pid
    finally:
        process.kill()
        process.wait(20)


def _until_healthy(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=1):  # noqa: S310 - a loopback URL of our own
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError("a model server did not start: is the model fetched?")


async def measure(servers: dict[str, Server], rounds: int) -> AsyncIterator[list[Figure]]:
    """Asks a cold and a warm question with every k, each way, `rounds` times; all figures so far after each round."""
    order = random.Random(0)  # noqa: S311 - an order, not a secret
    figures: list[Figure] = []
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=900)) as http:
        ways = {name: Way(name, server, http) for name, server in servers.items()}
        for number in range(rounds):
            for place, k in enumerate(KS):
                # One statement is written alike however slots are used.
                names = [name for name in ways if k > 1 or name not in {"four slots", "primed slots"}]
                for name in order.sample(names, len(names)):
                    for warm in (False, True):
                        nonce = f"{number}-{k}-{name}"
                        question = (2 * (number + place) + warm) % len(QUESTIONS)
                        figures.append(await ways[name].ask(question, nonce, k, warm=warm))
                        print(figures[-1], flush=True)
            yield figures


def summary(figures: list[Figure], base: str) -> list[dict[str, Any]]:
    """A row for each way, k and state: medians, and the median of the ratios to `base` in the same round."""
    rows: list[dict[str, Any]] = []
    for k in KS:
        for warm in (False, True):
            cell = [each for each in figures if (each.k, each.warm) == (k, warm)]
            against = [each for each in cell if each.way == base]
            for way in dict.fromkeys(each.way for each in cell):
                mine = [each for each in cell if each.way == way]
                row: dict[str, Any] = {"way": way, "k": k, "warm": warm, "n": len(mine)}
                for name in ("seconds", "processor_seconds"):
                    pairs = zip(mine, against, strict=True)
                    row[name] = round(statistics.median(getattr(each, name) for each in mine), 2)
                    ratios = [getattr(one, name) / getattr(other, name) for one, other in pairs]
                    row[f"{name}_ratio"] = round(statistics.median(ratios), 2)
                for name in ("computed", "cached", "written"):
                    row[name] = statistics.median(getattr(each, name) for each in mine)
                rows.append(row)
    return rows


def main() -> None:
    """Prints the figures as they come, and a table at the end."""
    parser = argparse.ArgumentParser(prog="benchmarks.llm_runtime")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--before", type=Path, help="another checkout, to which the ratios are")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        port, _, folder = options.serve.partition(",")
        serve_slots(int(port), folder)
    with ExitStack() as stack:
        servers = {"embedded": stack.enter_context(embedded(ROOT, Path(sys.executable)))}
        servers |= dict.fromkeys(("one slot", "four slots", "primed slots"), stack.enter_context(slots()))
        if options.before is not None:
            tree = options.before.resolve()
            servers["before"] = stack.enter_context(embedded(tree, tree / ".venv" / "bin" / "python"))
        base = "embedded" if options.before is None else "before"
        asyncio.run(_report(servers, options.rounds, base, options.json))


async def _report(servers: dict[str, Server], rounds: int, base: str, file: Path | None) -> None:
    async for figures in measure(servers, rounds):
        rows = summary(figures, base)
        print(*rows, sep="\n", flush=True)
        if file is not None:
            _write(file, rows, base)


def _write(file: Path, rows: list[dict[str, Any]], base: str) -> None:
    report = {"machine": asdict(describe(ROOT)), "seed": 0, "ratios_to": base, "rows": rows}
    file.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
