"""Trains the adapter of the embedded model: low-rank changes of its weights (LoRA) that act from the question on.

    python -m training.adapter --examples FILE [FILE …] --n N [N …] --out FOLDER

The adapter is an activated one (aLoRA): what stands before `### Question` in a prompt, instructions and schema, is read
without it. So a schema's prefix is computed once, here as at work, where one prefix cache serves both with and without,
and what is trained on is eighty tokens an example: no accelerator is needed. Each example is seen once. A run that was
stopped goes on from its last checkpoint.

Owns the order of the examples, the optimisation and the checkpoints; the network is `adapter_network`'s, the file that
is served `adapter_file`'s.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import torch
from rich.console import Console

from engine.llm.embedded.chat import plain_tokens
from engine.llm.embedded.prefix_cache import common
from pgparley.config import load
from training.adapter_examples import INVOCATION, AdapterExample
from training.adapter_network import Adapter, Base, Network, Prefixes

GROUP, GROUPS = 6, 3
"""Examples of one schema in a pass; passes in a step."""

RATE, WARM_UP = 4e-4, 8
"""Highest rate of learning; steps until it is reached. It falls to nothing by the last step."""

CHECKPOINT = 10
"""Steps between checkpoints."""


@dataclass(frozen=True, slots=True)
class Group:
    """Examples of one schema, cut into what they share and the rest."""

    prefix: tuple[int, ...]
    texts: tuple[tuple[int, ...], ...]
    plain: tuple[int, ...]
    said: tuple[int, ...]


def groups(examples: Sequence[AdapterExample], seed: int) -> list[Group]:
    """The examples by schema, in an order of its own."""
    by_database: dict[str, list[AdapterExample]] = {}
    for each in examples:
        by_database.setdefault(each.database, []).append(each)
    found = []
    for listed in by_database.values():
        ends = (plain_tokens(each.prompt, INVOCATION) for each in listed)
        shared = min(*(common(listed[0].prompt, each.prompt) for each in listed), *ends)
        found += [_group(listed[at : at + GROUP], shared) for at in range(0, len(listed), GROUP)]
    random.Random(seed).shuffle(found)  # noqa: S311 - an order, no secret
    return found


def _group(examples: Sequence[AdapterExample], shared: int) -> Group:
    return Group(
        examples[0].prompt[:shared],
        tuple((*each.prompt[shared:], *each.answer) for each in examples),
        tuple(plain_tokens(each.prompt, INVOCATION) - shared for each in examples),
        tuple(len(each.answer) for each in examples),
    )


def read(file: Path, n: int | None) -> list[AdapterExample]:
    """The first `n` examples of a file, or all."""
    lines = file.read_bytes().splitlines()[:n]
    return [msgspec.json.decode(line, type=AdapterExample) for line in lines]


def rate(step: int, steps: int) -> float:
    """The rate of learning of a step."""
    return RATE * min((step + 1) / WARM_UP, 1.0) * (1 - step / steps)


def instructions(listed: Sequence[Group]) -> tuple[int, ...]:
    """What all prefixes begin with."""
    first = listed[0].prefix
    return first[: min(common(first, each.prefix) for each in listed)]


def _trained(given: argparse.Namespace, console: Console) -> None:
    torch.manual_seed(given.seed)
    base = Base.read(load(None).embedded_model.path)
    adapter = Adapter(base)
    examples = [each for file, n in zip(given.examples, given.n, strict=True) for each in read(file, n)]
    listed = groups(examples, given.seed)
    steps = math.ceil(len(listed) / GROUPS)
    network = Network(base, adapter)
    prefixes = Prefixes(network, instructions(listed))
    optimiser = torch.optim.AdamW(adapter.parameters(), lr=RATE, weight_decay=0.01, betas=(0.9, 0.98))
    checkpoint = given.out / "checkpoint.pt"
    done = _restored(checkpoint, adapter, optimiser)
    console.print(f"{len(examples)} examples, {len(listed)} groups, {steps} steps, {done} done")
    for step in range(done, steps):
        began = time.monotonic()
        for values in optimiser.param_groups:
            values["lr"] = rate(step, steps)
        loss = _stepped(listed[step * GROUPS : (step + 1) * GROUPS], network, prefixes)
        torch.nn.utils.clip_grad_norm_(adapter.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()
        seconds = time.monotonic() - began
        console.print(f"step {step + 1}/{steps}: {loss:.4f} nats a token, {seconds:.1f} s", highlight=False)
        if (step + 1) % CHECKPOINT == 0 or step + 1 == steps:
            _keep(checkpoint, adapter, optimiser, step + 1)


def _stepped(batch: Sequence[Group], network: Network, prefixes: Prefixes) -> float:
    """Adds the gradients of a batch; returns its loss, nats a token."""
    said, total = sum(sum(each.said) for each in batch), 0.0
    for each in batch:
        loss = network.loss(each.texts, each.plain, each.said, prefixes.cells(each.prefix))
        (loss / said).backward()  # type: ignore[no-untyped-call]  # torch has no types for it
        total += loss.item()
    return total / said


def _restored(file: Path, adapter: Adapter, optimiser: torch.optim.Optimizer) -> int:
    if not file.exists():
        return 0
    state = torch.load(file, weights_only=True)
    adapter.load_state_dict(state["adapter"])
    optimiser.load_state_dict(state["optimiser"])
    return int(state["step"])


def _keep(file: Path, adapter: Adapter, optimiser: torch.optim.Optimizer, step: int) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    torch.save({"adapter": adapter.state_dict(), "optimiser": optimiser.state_dict(), "step": step}, part)
    part.replace(file)


def main() -> int:
    """Trains; returns 0."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--examples", type=Path, nargs="+", required=True)
    parser.add_argument("--n", type=int, nargs="+", required=True, help="examples of each file")
    parser.add_argument("--out", type=Path, required=True, help="the folder of the checkpoint")
    parser.add_argument("--seed", type=int, default=1)
    _trained(parser.parse_args(), Console(width=100))
    return 0


if __name__ == "__main__":
    sys.exit(main())
