"""PostgreSQL's own regression SQL, directly and through the gateway: `python -m tests.compat.regress --source DIR`.

DIR is an unpacked source of the server's version (`apt-get source postgresql-15` and the like); its tests are read,
never copied. Each run gets a fresh cluster and the files in the order of `parallel_schedule`, one after another.
Two direct runs tell which lines differ by themselves; those are masked. What is left between a direct run and one
through the gateway is a difference of ours. Writes a summary as JSON; the exit code is 1 where anything differs.
"""

# ruff: noqa: S603, S607 - it starts what it is told to, by name
from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT, free_port

_PORT = re.compile(r'port (?:"[0-9]+"|[0-9]+)')
_BUILD = str(Path(tempfile.gettempdir()) / "regress-build")
"""One path in every run, so that it cannot differ in the output."""
SETTINGS = (
    *(f"lc_{each} TO 'C'" for each in ("messages", "monetary", "numeric", "time")),
    "bytea_output TO 'hex'",
    "timezone_abbreviations TO 'Default'",
)
"""What `pg_regress` sets on the database."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Where everything is. `library`: regress.so, empty where it is not built (C functions then fail in every run)."""

    source: Path
    bindir: Path
    library: str
    user: str
    only: tuple[str, ...]

    @property
    def regress(self) -> Path:
        """The folder of the regression tests."""
        return self.source / "src" / "test" / "regress"

    def as_server(self, *words: str) -> list[str]:
        """A command as the server's user, which must not be root."""
        return ["runuser", "-u", self.user, "--", *words] if os.getuid() == 0 else list(words)


def schedule(setup: Setup) -> list[str]:
    """The tests in order."""
    lines = (setup.regress / "parallel_schedule").read_text("utf-8").splitlines()
    names = [name for line in lines if line.startswith("test:") for name in line.split()[1:]]
    return [name for name in names if not setup.only or name in setup.only]


@contextmanager
def server(setup: Setup, folder: Path) -> Iterator[int]:
    """A fresh cluster on a TCP port of loopback."""
    data, port = folder / "data", free_port()
    run = setup.as_server
    initdb = ["-A", "trust", "-U", "postgres", "--no-sync", "--no-locale", "-E", "UTF8", "-D", str(data)]
    subprocess.run(run(str(setup.bindir / "initdb"), *initdb), check=True, stdout=subprocess.DEVNULL)
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off"
    options += " -c max_prepared_transactions=2 -c shared_buffers=128MB -c jit=off -c autovacuum=off"
    ctl = run(str(setup.bindir / "pg_ctl"), "-w", "-D", str(data), "-l", str(folder / "log"))
    subprocess.run([*ctl, "-o", options, "start"], check=True, stdout=subprocess.DEVNULL)
    try:
        yield port
    finally:
        subprocess.run([*ctl, "-m", "immediate", "stop"], check=False, stdout=subprocess.DEVNULL)


@contextmanager
def gateway(upstream: int) -> Iterator[int]:
    """A gateway worker in front of `upstream`."""
    port = free_port()
    environment = {
        **os.environ,
        "PGPARLEY_GATEWAY_UPSTREAM_HOST": "127.0.0.1",
        "PGPARLEY_GATEWAY_UPSTREAM_PORT": str(upstream),
        "PGPARLEY_GATEWAY_LISTEN_PORT": str(port),
    }
    words = [sys.executable, "-m", "pgparley.processes", "gateway"]
    process = subprocess.Popen(words, env=environment, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        _until_open(port)
        yield port
        if process.poll() is not None:
            raise RuntimeError("the gateway ended")
    finally:
        process.terminate()
        process.wait(20)


def _until_open(port: int) -> None:
    deadline = time.monotonic() + 20
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return


def run_all(setup: Setup, results: Path, *, through: bool) -> dict[str, list[str]]:
    """Every test's output, lines by test."""
    folder = Path(tempfile.mkdtemp(prefix="regress-"))
    build = folder / "build"
    for each in (build / "results", build / "testtablespace"):
        each.mkdir(parents=True)
    shutil.chown(folder, setup.user) if os.getuid() == 0 else None
    subprocess.run(["chmod", "-R", "a+rwX", str(folder)], check=True)
    if setup.library:
        shutil.copy(setup.library, build / "regress.so")
    try:
        with server(setup, folder) as upstream:
            psql = [str(setup.bindir / "psql"), "-X", "-q", "-h", "127.0.0.1", "-U", "postgres"]
            prepare = ["CREATE DATABASE regression TEMPLATE = template0"]
            prepare += [f"ALTER DATABASE regression SET {each}" for each in SETTINGS]
            words = [word for each in prepare for word in ("-c", each)]
            subprocess.run([*psql, "-p", str(upstream), "-d", "postgres", *words], check=True)
            if not through:
                return _outputs(setup, psql, upstream, build, results)
            with gateway(upstream) as port:
                return _outputs(setup, psql, port, build, results)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _outputs(setup: Setup, psql: list[str], port: int, build: Path, results: Path) -> dict[str, list[str]]:
    environment = {
        **os.environ,
        "PGTZ": "PST8PDT",
        "PGDATESTYLE": "Postgres, MDY",
        "PGOPTIONS": "-c intervalstyle=postgres_verbose",
        "PG_ABS_SRCDIR": str(setup.regress),
        "PG_ABS_BUILDDIR": _BUILD,
        "PG_LIBDIR": _BUILD,
        "PG_DLSUFFIX": ".so",
        "LANG": "C",
        "LC_ALL": "C",
    }
    link = Path(_BUILD)
    link.unlink(missing_ok=True)
    link.symlink_to(build)
    found: dict[str, list[str]] = {}
    results.mkdir(parents=True, exist_ok=True)
    for name in schedule(setup):
        words = [*psql, "-p", str(port), "-d", "regression", "-a"]
        words += ["-v", "HIDE_TABLEAM=on", "-v", "HIDE_TOAST_COMPRESSION=on"]
        with (setup.regress / "sql" / f"{name}.sql").open("rb") as script:
            done = subprocess.run(
                words,
                stdin=script,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**environment, "PGAPPNAME": f"pg_regress/{name}"},
                cwd=build,
                check=False,
                timeout=600,
            )
        (results / f"{name}.out").write_bytes(done.stdout)
        found[name] = _PORT.sub("port", done.stdout.decode("utf-8", "backslashreplace")).splitlines()
    return found


def differences(one: list[str], two: list[str], masked: set[str]) -> list[str]:
    """The lines of a diff that are not masked."""
    lines = difflib.unified_diff(one, two, lineterm="", n=0)
    return [li for li in lines if li[:3] not in ("---", "+++") and li[:1] in "+-" and li not in masked]


def main() -> int:
    """Runs everything; prints and writes what differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, required=True, help="the unpacked source of PostgreSQL")
    parser.add_argument("--bindir", type=Path, default=Path("/usr/lib/postgresql/15/bin"))
    parser.add_argument("--library", default="", help="regress.so of that source")
    parser.add_argument("--user", default="postgres", help="who runs the server where this is root")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--results", type=Path, default=Path(tempfile.gettempdir()) / "regress-results")
    given = parser.parse_args()
    setup = Setup(given.source.resolve(), given.bindir, given.library, given.user, tuple(given.only))
    direct = run_all(setup, given.results / "direct", through=False)
    again = run_all(setup, given.results / "again", through=False)
    through = run_all(setup, given.results / "gateway", through=True)
    report: dict[str, list[str]] = {}
    unstable: dict[str, int] = {}
    for name, lines in direct.items():
        own = set(differences(lines, again[name], set()))
        masked = own | {("-" if li[0] == "+" else "+") + li[1:] for li in own}
        unstable |= {name: len(own)} if own else {}
        found = differences(lines, through[name], masked)
        report |= {name: found} if found else {}
    version = subprocess.run(
        [setup.bindir / "postgres", "--version"], capture_output=True, text=True, check=True
    )
    summary = {
        "server": version.stdout.strip(),
        "files": len(direct),
        "lines": sum(map(len, direct.values())),
        "differ_between_two_direct_runs": unstable,
        "differ_through_the_gateway": report,
    }
    (given.results / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    sys.stdout.write(json.dumps(summary, indent=1)[:8000] + "\n")
    return 1 if report else 0


if __name__ == "__main__":
    sys.exit(main())
