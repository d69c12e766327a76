"""What the kernel says of processor time and memory.

Owns reading /proc. Foreign time is what the processors spent on others than the processes under test; the
time of interrupts is left out of both sides, because the kernel gives it to whoever happens to run.
"""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROC = Path("/proc")
_TICK = os.sysconf("SC_CLK_TCK")
CPUS = os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Machine:
    """Where and of what a run was made."""

    cpu: str
    cpus: int
    memory_gib: float
    kernel: str
    python: str
    commit: str
    dirty: bool


def describe() -> Machine:
    """This machine, and the commit of this tree."""
    models = [line for line in (PROC / "cpuinfo").read_text().splitlines() if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    changed = _git("status", "--porcelain", "--", "*.py", "*.c", "*.txt", "*.lark")
    return Machine(
        cpu=models[0].split(":", 1)[1].strip() if models else platform.machine(),
        cpus=CPUS,
        memory_gib=round(memory, 1),
        kernel=platform.release(),
        python=platform.python_version(),
        commit=_git("rev-parse", "HEAD"),
        dirty=bool(changed),
    )


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@dataclass(frozen=True, slots=True)
class Busy:
    """Seconds since the start of the machine: of the clock, of all processors' work, of a few processes."""

    clock: float
    all: float
    ours: float

    def foreign_share(self, later: Busy) -> float:
        """Others' share of the machine's processors from here to `later`, 0 to 1."""
        others = (later.all - self.all) - (later.ours - self.ours)
        return max(0.0, others / (later.clock - self.clock) / CPUS)


def busy(roots: Iterable[int]) -> Busy:
    """Now. `roots` and their descendants, dead ones included, are the processes under test."""
    fields = (PROC / "stat").read_text().split(None, 9)
    user, nice, system = (int(field) for field in fields[1:4])
    stolen = int(fields[8])
    return Busy(time.monotonic(), (user + nice + system + stolen) / _TICK, _tree(roots))


def _tree(roots: Iterable[int]) -> float:
    """Seconds of `roots` and of all that descend from them."""
    wanted, stack = set(), list(roots)
    while stack:
        pid = stack.pop()
        if pid not in wanted:
            wanted.add(pid)
            stack += _children(pid)
    return sum(_ticks(pid) for pid in wanted) / _TICK


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for task in (PROC / str(pid) / "task").iterdir():
            found += [int(child) for child in (task / "children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return found
    return found


def _ticks(pid: int) -> int:
    """Of the process and of the children that it has waited for."""
    try:
        fields = (PROC / str(pid) / "stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(int(field) for field in fields[11:15])


def cpu_seconds(pids: Iterable[int]) -> float:
    """What the threads of `pids` have run, to the nanosecond."""
    total = 0
    for pid in pids:
        for task in (PROC / str(pid) / "task").iterdir():
            total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


def rss_kb(pids: Iterable[int]) -> int:
    """Resident memory of `pids` in KB, shared pages counted for each."""
    total = 0
    for pid in pids:
        lines = (PROC / str(pid) / "status").read_text().splitlines()
        total += next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
    return total
