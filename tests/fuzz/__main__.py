"""Fuzzes sessions, codecs and the NL surface: `python -m tests.fuzz --minutes 10 [--seed 1] [--target session]`.

A mutation-based fuzzer of our own, steered by coverage of `proxy.protocol` (line events of `sys.settrace` on a
sample of the runs). The one invariant: whatever bytes client, server and engine say, in whatever chunks, a session
either goes on or ends with a protocol error; a parser gives a value or its documented error. Anything else is a
finding: it is written to `--findings` with what reproduces it, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.corpus import SEEDS
from tests.fuzz.mutate import mutated
from tests.fuzz.targets import TARGETS

_PACKAGE = str(Path("proxy") / "protocol")
_TRACED = 16
"""One run in so many is traced: tracing is what costs most."""

_LARGEST_CORPUS = 4000


@dataclass
class Campaign:
    """One target's corpus and what was found. `seen`: (file, line) pairs that some input has reached."""

    name: str
    target: Callable[[bytes, random.Random], None]
    corpus: list[bytes]
    seen: set[tuple[str, int]] = field(default_factory=set)
    runs: int = 0
    findings: list[dict[str, str]] = field(default_factory=list)

    def run(self, data: bytes, seed: int, *, trace: bool) -> None:
        """One input; kept where it reaches something new."""
        reached: set[tuple[str, int]] = set()
        before = len(self.seen)
        self.runs += 1
        if trace:
            sys.settrace(
                lambda frame, _event, _arg: (
                    _line_tracer(reached) if _PACKAGE in frame.f_code.co_filename else None
                )
            )
        try:
            self.target(data, random.Random(seed))  # noqa: S311 - reproducible on purpose
        except Exception as problem:  # noqa: BLE001 - whatever comes out is the finding
            sys.settrace(None)
            self._found(data, seed, problem)
        finally:
            sys.settrace(None)
        self.seen |= reached
        if len(self.seen) > before and len(self.corpus) < _LARGEST_CORPUS:
            self.corpus.append(data)

    def _found(self, data: bytes, seed: int, problem: Exception) -> None:
        where = traceback.extract_tb(problem.__traceback__)[-1]
        key = f"{type(problem).__name__} at {Path(where.filename).name}:{where.lineno}"
        if any(known["where"] == key for known in self.findings):
            return
        text = "".join(traceback.format_exception(problem))
        found = {"target": self.name, "where": key, "data": data.hex(), "seed": str(seed), "traceback": text}
        self.findings.append(found)


def _line_tracer(reached: set[tuple[str, int]]) -> Callable[..., object]:
    def trace(frame: object, event: str, _arg: object) -> object:
        if event == "line":
            reached.add((frame.f_code.co_filename, frame.f_lineno))  # type: ignore[attr-defined] - a frame
        return trace

    return trace


def main() -> int:
    """Runs the campaigns in turn until the time is over."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", choices=sorted(TARGETS), nargs="*", default=sorted(TARGETS))
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings.json"))
    given = parser.parse_args()
    rng = random.Random(given.seed)  # noqa: S311 - reproducible on purpose
    campaigns = [Campaign(name, TARGETS[name], list(SEEDS[name])) for name in given.target]
    for campaign in campaigns:
        for data in list(campaign.corpus):
            campaign.run(data, 0, trace=True)
    end = time.monotonic() + 60 * given.minutes
    while time.monotonic() < end:
        for campaign in campaigns:
            for _ in range(200):
                data = mutated(rng.choice(campaign.corpus), campaign.corpus, rng)
                campaign.run(data, rng.getrandbits(32), trace=rng.randrange(_TRACED) == 0)
    for campaign in campaigns:
        sys.stdout.write(
            f"{campaign.name}: {campaign.runs} runs, {len(campaign.corpus)} inputs kept, "
            f"{len(campaign.seen)} lines reached, {len(campaign.findings)} findings\n"
        )
    findings = [found for campaign in campaigns for found in campaign.findings]
    if findings:
        given.findings.write_text(json.dumps(findings, indent=1))
        sys.stdout.write("".join(f"{found['target']}: {found['where']}\n" for found in findings))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
