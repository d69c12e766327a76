"""What the encoder's own forward pass is worth: `python -m benchmarks.encoder [--rounds 15] [--json FILE]`.

The same texts, one after the other and many at once, by sentence-transformers' own pass, by that with PyTorch's dynamic
quantisation or in half the precision, and by `engine.models.bert` in 8-bit integers. Rounds are interleaved and
shuffled; medians of the rounds. Start-up and memory are those of a process of its own for each way.
Accuracy is the largest difference and the least cosine to the library's vectors.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.wire.machine import describe
from engine.models.encoder import loaded_model
from engine.models.sentences import SentenceModel, Vectors
from engine.settings import EncoderSettings

ROOT = Path(__file__).parents[1]
QUESTIONS = ROOT / "benchmarks" / "quality" / "data" / "routing-questions.jsonl.gz"
SEED = 1
ALONE, TOGETHER = 25, 64
"""Questions a round that are asked one after the other, and all at once."""

SETTINGS = EncoderSettings()


Encode = Callable[[Sequence[str]], Vectors]
"""Texts to unit vectors, (n, d)."""


def library() -> Encode:
    """As sentence-transformers runs it."""
    return SentenceModel(loaded_model(SETTINGS), batch=SETTINGS.batch).sentences


def library_quantised() -> Encode:
    """The same with PyTorch's dynamic quantisation of linear maps, which PyTorch calls deprecated."""
    import torch  # noqa: PLC0415  heavy: each way has a process of its own for its memory

    model = loaded_model(SETTINGS)
    found = SentenceModel(model, batch=SETTINGS.batch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, dtype=torch.qint8, inplace=True)
    return found.sentences


def library_bfloat16() -> Encode:
    """The same in numbers of 16 bits."""
    model = loaded_model(SETTINGS).bfloat16()

    def encode(texts: Sequence[str]) -> Vectors:
        found: Vectors = model.encode(
            list(texts), batch_size=SETTINGS.batch, convert_to_tensor=True, show_progress_bar=False
        ).float().numpy()  # fmt: skip
        return found

    return encode


def integers() -> Encode:
    """Our pass as questions take it: 8-bit integers where the processor has instructions for them."""
    model = SentenceModel(loaded_model(SETTINGS), batch=SETTINGS.batch)
    return lambda texts: np.stack([found.sentence for found in model.questions(texts)])


WAYS: dict[str, Callable[[], Encode]] = {
    "library": library,
    "library, quantised": library_quantised,
    "library, bfloat16": library_bfloat16,
    "ours, 8-bit integers": integers,
}


def texts_of(path: Path) -> list[str]:
    """The questions of a file, in a drawn order that is the same in every run."""
    lines = gzip.decompress(path.read_bytes()).splitlines()
    found = [str(json.loads(line)["question"]) for line in lines]
    random.Random(SEED).shuffle(found)  # noqa: S311  an order, no secret
    return found


def compared(texts: Sequence[str], rounds: int) -> dict[str, dict[str, float]]:
    """For each way the medians of the rounds: p50 of one question in ms, and questions a second many at once."""
    ways = {name: make() for name, make in WAYS.items()}
    alone: dict[str, list[float]] = {name: [] for name in ways}
    together: dict[str, list[float]] = {name: [] for name in ways}
    drawn = random.Random(SEED)  # noqa: S311  an order, no secret
    for number in range(-1, rounds):
        for name in drawn.sample(list(ways), len(ways)):
            started = time.perf_counter()
            ways[name](texts[:TOGETHER])
            rate = TOGETHER / (time.perf_counter() - started)
            middle = statistics.median(_seconds(ways[name], text) for text in texts[:ALONE])
            if number >= 0:  # the first round warms up
                together[name].append(rate)
                alone[name].append(1000 * middle)
    wanted = ways["library"](texts[:TOGETHER])
    return {
        name: {
            "p50_ms": round(statistics.median(alone[name]), 2),
            "p50_ms_quartiles": [round(each, 2) for each in statistics.quantiles(alone[name])],
            "per_second": round(statistics.median(together[name]), 1),
            "largest_difference": float(np.abs(found - wanted).max()),
            "least_cosine": float(np.einsum("nd,nd->n", found, wanted).min()),
        }
        for name, encode in ways.items()
        for found in [encode(texts[:TOGETHER])]
    }


def _seconds(encode: Encode, text: str) -> float:
    started = time.perf_counter()
    encode([text])
    return time.perf_counter() - started


def started_once(name: str) -> dict[str, float]:
    """Seconds from nothing to the first vector, and memory then, of this process."""
    WAYS[name]()(["how many singers are there?"])
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return {
        "start_s": round(time.monotonic() - float(os.environ["STARTED"]), 2),
        "rss_mb": round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1),
    }


def starts(times: int) -> dict[str, dict[str, float]]:
    """The medians over a few processes of each way, interleaved."""
    found: dict[str, list[dict[str, float]]] = {name: [] for name in WAYS}
    for _ in range(times):
        for name, seen in found.items():
            environment = {**os.environ, "STARTED": str(time.monotonic())}
            command = [sys.executable, "-m", "benchmarks.encoder", "--start", name]
            done = subprocess.run(
                command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True
            )
            seen.append(json.loads(done.stdout.splitlines()[-1]))
    return {
        name: {key: statistics.median(each[key] for each in seen) for key in seen[0]}
        for name, seen in found.items()
    }


def main() -> None:
    """Prints medians and ratios to the library's way, and writes them where asked to."""
    parser = argparse.ArgumentParser(prog="benchmarks.encoder")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--starts", type=int, default=3, help="processes of each way")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--start", choices=WAYS, help="only load this way and say what that took")
    options = parser.parse_args()
    if options.start:
        print(json.dumps(started_once(options.start)))
        return
    begun = starts(options.starts)
    measured = compared(texts_of(QUESTIONS), options.rounds)
    ways: dict[str, dict[str, Any]] = {name: measured[name] | begun[name] for name in WAYS}
    for name, found in ways.items():
        times = ways["library"]["p50_ms"] / found["p50_ms"]
        print(
            f"{name:<22} p50 {found['p50_ms']:>6.2f} ms ({times:.2f} x)  {found['per_second']:>7.1f} /s"
            f"  start {found['start_s']:>5.2f} s  {found['rss_mb']:>6.1f} MB"
            f"  difference {found['largest_difference']:.1e}, cosine {found['least_cosine']:.4f}"
        )
    if options.json is not None:
        report = {
            "machine": asdict(describe(ROOT)),
            "load": os.getloadavg(),
            "seed": SEED,
            "rounds": options.rounds,
            "n_alone": ALONE,
            "n_together": TOGETHER,
            "ways": ways,
        }
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
