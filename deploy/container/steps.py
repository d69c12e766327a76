"""Runs the Dockerfile's steps for an image in clean roots, without a container engine: as root, with debootstrap.

    python deploy/container/steps.py --work /var/tmp/steps gateway --upstream 127.0.0.1:5432 --role postgres

Debian's bookworm with its own Python stands in for the base image. Every RUN is run by chroot, every COPY made; then
the sizes are told, what the image adds apart from its base, and the image's command is started as its user on a root
that is mounted read-only, until its health check passes and psql gets an answer through it. No layers, no registry, no
seccomp profile: what those do is not tried.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
CONTEXT = HERE.parents[1]

PACKAGES = "ca-certificates,python3,python3-dev,python3-venv,python3-pip,python-is-python3"
"""What Debian's own Python needs to be like the base image's."""

FOLDERS = ("/run/pgparley", "/var/cache/pgparley", "/tmp")  # noqa: S108 - inside the root
"""What a container gets to write in, as in compose.yaml."""

START = 60.0
"""Seconds within which the image's health check has to pass."""

MIB = 1 << 20

RUN_AS_IMAGE = """
set -eu
mount --bind "$ROOT" "$ROOT" && mount -o remount,bind,ro "$ROOT"
mount -t proc proc "$ROOT/proc" && mount --rbind /dev "$ROOT/dev"
for folder in {folders}; do mount -t tmpfs -o "mode=700,uid={uid},gid={uid}" tmpfs "$ROOT$folder"; done
exec chroot "$ROOT" setpriv --reuid={uid} --regid={uid} --clear-groups --no-new-privs --bounding-set=-all \\
    env --ignore-environment {environment} sh -c {script}
"""

INSIDE = """
{command} & started=$!
for try in $(seq {seconds}); do {health} 2>/dev/null && break; sleep 1; done
{health} || {{ kill -INT $started; exit 1; }}
echo healthy
touch /not-writable 2>/dev/null && exit 2
mkfifo /run/pgparley/end
grep -E '^(Uid|CapEff|NoNewPrivs)' /proc/$started/status
read -r end < /run/pgparley/end
kill -{stop} $started && wait $started
"""


class StepError(Exception):
    """A step did not do what it should."""


@dataclass(slots=True)
class Stage:
    """A root as the Dockerfile has brought it so far; `environment` and the rest as the image would have them."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)
    folder: str = "/"
    words: dict[str, str] = field(default_factory=dict)


class Steps:
    """The Dockerfile's stages, each made when it is needed, in folders of `work`."""

    def __init__(self, work: Path) -> None:
        self._work = work
        self._arguments: dict[str, str] = {}
        self._texts: dict[str, list[tuple[str, str]]] = {}
        self._made: dict[str, Stage] = {}
        self._read(re.sub(r"\\\n", " ", (HERE / "Dockerfile").read_text("utf-8")))

    def _read(self, text: str) -> None:
        current: list[tuple[str, str]] | None = None
        for line in filter(None, (line.strip() for line in text.splitlines() if not line.startswith("#"))):
            word, _, rest = line.partition(" ")
            if word == "FROM":
                base, _, name = rest.partition(" AS ")
                current = self._texts[name] = [(word, base)]
            elif current is None:
                name, _, value = rest.partition("=")
                self._arguments[name] = value
            else:
                current.append((word, rest.strip()))

    def stage(self, name: str) -> Stage:
        """The stage called `name`; anything that no stage is called is the base image."""
        if name not in self._made:
            self._made[name] = self._make(name) if name in self._texts else self._base()
        return self._made[name]

    def _base(self) -> Stage:
        root = self._work / "base"
        if not root.exists():
            tell("base", f"debootstrap bookworm, with {PACKAGES}")
            run("debootstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", str(root))
        return Stage(root, {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"})

    def _make(self, name: str) -> Stage:
        (_, base), *steps = self._texts[name]
        below = self.stage(base)
        root = self._work / name
        shutil.rmtree(root, ignore_errors=True)
        run("cp", "--archive", "--reflink=auto", str(below.root), str(root))
        stage = Stage(root, dict(below.environment), below.folder, dict(below.words))
        for word, text in steps:
            began = time.monotonic()
            self._step(stage, word, text)
            tell(name, f"{word} {text[:100]}", time.monotonic() - began)
        return stage

    def _step(self, stage: Stage, word: str, text: str) -> None:
        if word == "ARG":
            key, _, value = text.partition("=")
            stage.environment.setdefault(key, os.environ.get(key, shlex.split(value)[0] if value else ""))
        elif word == "ENV":
            for each in shlex.split(text):
                key, _, value = each.partition("=")
                stage.environment[key] = re.sub(
                    r"\$\{?(\w+)\}?", lambda found: stage.environment.get(found[1], ""), value
                )
        elif word == "WORKDIR":
            stage.folder = text
            (stage.root / text.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif word == "COPY":
            self._copy(stage, text)
        elif word == "RUN":
            inside(stage, re.sub(r"--mount=\S+\s+", "", text))
        else:
            stage.words[word] = text

    def _copy(self, stage: Stage, text: str) -> None:
        source = CONTEXT
        if found := re.match(r"--from=(\S+) ", text):
            source, text = self.stage(found[1]).root, text[found.end() :]
        *names, target = text.split()
        into = stage.root / (stage.folder + "/" + target if not target.startswith("/") else target).lstrip(
            "/"
        )
        for name in names:
            path = source / name.lstrip("/")
            if path.is_dir():
                # As .dockerignore has it.
                shutil.copytree(
                    path,
                    into,
                    symlinks=True,
                    dirs_exist_ok=True,
                    ignore=shutil.ignore_patterns("__pycache__", "*.so") if source == CONTEXT else None,
                )
            else:
                shutil.copy2(path, into / Path(name).name if target.endswith("/") else into)


def inside(stage: Stage, script: str) -> None:
    """Runs `script` in the stage's root, with this machine's name servers and certificates."""
    mounted = 'mount -t proc proc "$ROOT/proc" && mount --rbind /dev "$ROOT/dev"'
    for file in ("/etc/resolv.conf", "/etc/ssl/certs/ca-certificates.crt"):
        mounted += f' && touch "$ROOT{file}" && mount --bind {file} "$ROOT{file}"'
    settings = " ".join(shlex.quote(f"{key}={value}") for key, value in stage.environment.items())
    command = f"cd {stage.folder} && {script}"
    done = f'{mounted} && chroot "$ROOT" env --ignore-environment {settings} sh -c {shlex.quote(command)}'
    run(
        *("unshare", "--mount", "--propagation", "private", "sh", "-c", done),
        environment={"ROOT": str(stage.root)},
    )


def run(*command: str, environment: dict[str, str] | None = None) -> None:
    """Runs a program of this machine; raises `StepError` with the end of what it said."""
    done = subprocess.run(
        command, env={**os.environ, **(environment or {})}, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise StepError(
            f"{shlex.join(command)[:300]}: {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}"
        )


def tell(stage: str, what: str, seconds: float | None = None) -> None:
    """A line of the report."""
    spent = "" if seconds is None else f" ({seconds:.1f} s)"
    sys.stdout.write(f"{stage}: {what}{spent}\n")
    sys.stdout.flush()


def size(root: Path) -> int:
    """Bytes of the files below `root`, each counted once."""
    seen: dict[tuple[int, int], int] = {}
    for folder, _, names in os.walk(root):
        for name in names:
            about = (Path(folder) / name).lstat()
            seen[about.st_dev, about.st_ino] = about.st_size
    return sum(seen.values())


def check_relay(stage: Stage) -> None:
    """Raises `StepError` where the wheel fell back to the relay in Python."""
    if not list(stage.root.glob("opt/pgparley/lib/*/site-packages/proxy/net/_pump*.so")):
        raise StepError("the relay was not compiled: is there a compiler, and are there Python's headers?")


def start(stage: Stage, upstream: str, role: str) -> None:
    """Runs the image's command as its user on a read-only root, and asks PostgreSQL at `upstream` through it."""
    host, _, port = upstream.rpartition(":")
    given = stage.environment | {
        "PGPARLEY_GATEWAY_UPSTREAM_HOST": host,
        "PGPARLEY_GATEWAY_UPSTREAM_PORT": port,
    }
    command = json.loads(stage.words["ENTRYPOINT"]) + json.loads(stage.words["CMD"])
    health = shlex.join(json.loads(stage.words["HEALTHCHECK"].partition("CMD ")[2]))
    script = INSIDE.format(
        command=shlex.join(command),
        health=health,
        seconds=int(START),
        stop=stage.words["STOPSIGNAL"].removeprefix("SIG"),
    )
    outside = RUN_AS_IMAGE.format(
        folders=" ".join(FOLDERS),
        uid=stage.words["USER"].partition(":")[0],
        environment=" ".join(shlex.quote(f"{key}={value}") for key, value in given.items()),
        script=shlex.quote(script),
    )
    # Without a network namespace: what listens on this machine is what psql reaches.
    process = subprocess.Popen(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", outside],
        env={**os.environ, "ROOT": str(stage.root)},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        _ask(process, role)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)


def _ask(process: subprocess.Popen[str], role: str) -> None:
    for line in process.stdout or ():
        tell("running", " ".join(line.split()))
        if line.startswith("NoNewPrivs"):
            break
    else:
        raise StepError("the image's command did not get healthy")
    query = "SELECT 'relayed: ' || version()"
    asked = [
        "psql",
        f"host=127.0.0.1 port=6432 user={role} dbname=postgres",
        "--tuples-only",
        "--command",
        query,
    ]
    done = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=30)
    if done.returncode != 0:
        raise StepError(done.stderr)
    tell("psql", done.stdout.strip())
    Path(f"/proc/{process.pid}/root/run/pgparley/end").write_text("end\n", encoding="utf-8")
    if process.wait(30) != 0:
        raise StepError(f"the image's command ended with {process.returncode}")
    tell("running", "ended by its stop signal")


def main() -> None:
    """Exits with 1 where a step fails."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("image", help="the Dockerfile's target")
    options.add_argument(
        "--work", type=Path, required=True, help="an empty folder for the roots; base is kept in it"
    )
    options.add_argument(
        "--upstream", help="address:port of a PostgreSQL; with it the image is started: the gateway's alone"
    )
    options.add_argument("--role", default="postgres", help="who asks it, without a password")
    given = options.parse_args()
    try:
        steps = Steps(given.work.resolve())
        stage = steps.stage(given.image)
        base = size(given.work / "base")
        tell("size", f"{(size(stage.root) - base) / MIB:.1f} MiB on a base of {base / MIB:.1f} MiB")
        check_relay(stage)
        if given.upstream:
            start(stage, given.upstream, given.role)
    except StepError as problem:
        sys.exit(str(problem))


if __name__ == "__main__":
    main()
