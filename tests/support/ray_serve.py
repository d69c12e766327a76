"""The applications of deploy/ray/models.yaml on a Ray of a test's own, in a few hundred megabytes of a small machine.

Owns starting and ending it, and finding the processes of its replicas.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.conftest import ROOT, free_port


@dataclass(frozen=True, slots=True)
class RayServe:
    """`url`: for `[encoder] base_url`. `pid`: of the process that everything else descends from."""

    url: str
    pid: int
    log: Path

    def replicas(self, deployment: str) -> set[int]:
        """Processes of the deployment's replicas that have loaded their code."""
        return {
            pid
            for pid, title in _titles()
            if title.startswith("ray::ServeReplica:")
            and _of(title) == deployment
            and self.pid in _ancestors(pid)
        }


@contextmanager
def ray_serve(home: Path, replicas: int) -> Iterator[RayServe]:
    """`replicas` of each application, from started, not yet ready, to ended."""
    port = free_port()
    content = yaml.safe_load((ROOT / "deploy" / "ray" / "models.yaml").read_text("utf-8"))
    content["http_options"]["port"] = port
    for application in content["applications"]:
        for deployment in application["deployments"]:
            deployment["autoscaling_config"] |= {"min_replicas": replicas, "max_replicas": replicas}
            deployment["ray_actor_options"] = {"num_cpus": 0.1}
    file, log = home / "models.yaml", home / "ray.log"
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    # Ray's sockets lie below its folder, and a socket's path has 107 characters at most.
    with tempfile.TemporaryDirectory(prefix="ray") as folder, log.open("wb") as told:
        environment = {
            **os.environ,
            "HOME": folder,
            "RAY_TMPDIR": folder,
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_OVERRIDE_RESOURCES": '{"CPU": 4}',
            "PYTHONPATH": str(ROOT),
            "PYTHONWARNINGS": "ignore",
        }
        command = [sys.executable, "-m", "ray.serve.scripts", "run", str(file)]
        process = subprocess.Popen(command, cwd=home, env=environment, stdout=told, stderr=told)  # noqa: S603
        try:
            yield RayServe(f"http://127.0.0.1:{port}", process.pid, log)
        finally:
            process.terminate()
            process.wait(60)


def _of(title: str) -> str:
    return title.removeprefix("ray::ServeReplica:").partition(":")[2].partition(".")[0].strip()


def _titles() -> Iterator[tuple[int, str]]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                yield (
                    int(folder.name),
                    (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip(),
                )
            except OSError:
                continue


def _ancestors(pid: int) -> set[int]:
    found: set[int] = set()
    while pid > 1:
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[1])
        except OSError:
            break
        found.add(pid)
    return found
