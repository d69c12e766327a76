"""The systemd units as systemd runs them: installed as the page for operators says, in a container over this root.

What is written goes to an overlay in memory. Needs root, systemd-nspawn, and a system Python of the tests' own version,
whose libraries stand in for gigabytes of downloads; skips where one is missing.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from aiohttp import web

from pgparley.cluster import Cluster
from tests.chat_server import chat_server, completion
from tests.conftest import ROOT, free_port

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PYTHON = f"/usr/bin/python3.{sys.version_info.minor}"

OUTSIDE = """
set -eu
mount -t tmpfs tmpfs "$MEMORY"
mkdir "$MEMORY/up" "$MEMORY/work" "$MEMORY/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$MEMORY/up,workdir=$MEMORY/work" "$MEMORY/root"
cd "$MEMORY/root"
chroot . "$PYTHON" -m venv --without-pip /opt/pgparley
site=$(echo opt/pgparley/lib/python3.*/site-packages)
"$TESTS" -m pip --quiet install --no-deps --target "$site" "$WHEELS"/*.whl
mkdir opt/libraries && mount --bind "$LIBRARIES" opt/libraries && echo /opt/libraries > "$site/libraries.pth"
printf '#!/opt/pgparley/bin/python\\nfrom pgparley.command import main\\nmain()\\n' > opt/pgparley/bin/pgparley
chmod 755 opt/pgparley/bin/pgparley
cp "$UNITS/pgparley.sysusers" usr/lib/sysusers.d/pgparley.conf && chroot . systemd-sysusers
cp "$UNITS"/*.service "$FOLDER/try.service" etc/systemd/system/
chroot . install -d -m 750 -g pgparley /etc/pgparley
chroot . /opt/pgparley/bin/pgparley --config /etc/pgparley/pgparley.toml init --yes --model "$MODEL" \\
    --server "/run/upstream:$UPSTREAM_PORT" --listen "127.0.0.1:$PORT" \\
    --store "postgresql://postgres@/postgres?host=/run/upstream&port=$UPSTREAM_PORT"
chroot . sh -c "chgrp pgparley /etc/pgparley/pgparley.toml && chmod 640 /etc/pgparley/pgparley.toml"
exec systemd-nspawn --directory . --register=no --keep-unit --bind-ro="$LIBRARIES:/opt/libraries" \\
    --bind="$SERVER:/run/upstream" --bind="$FOLDER:/out" --boot -- --unit=try.service
"""

UNIT = """
[Service]
Type=oneshot
ExecStart=/bin/bash /out/inside.sh
ExecStopPost=/bin/systemctl exit --force
StandardOutput=file:/out/log
StandardError=file:/out/log
"""

INSIDE = """
set -x
as_gateway() {{ runuser -u pgparley -- env XDG_RUNTIME_DIR=/run/pgparley XDG_CACHE_HOME=/var/cache "$@"; }}
pgparley() {{ as_gateway /opt/pgparley/bin/pgparley --config /etc/pgparley/pgparley.toml "$@"; }}
cd /
systemctl start pgparley-gateway pgparley-engine
for try in $(seq 100); do
    pgparley check --json > /out/check.json && grep -q 'is ready' /out/check.json && break
    sleep 1
done
for unit in gateway engine; do
    grep -E 'Seccomp:|NoNewPrivs:|CapEff:' /proc/$(systemctl show -P MainPID pgparley-$unit)/status > /out/$unit.status
done
/opt/pgparley/bin/python -c "
import psycopg
session = psycopg.connect(host='127.0.0.1', port={port}, user='postgres', dbname='postgres')
print(session.execute('SELECT 42').fetchone()[0])
" > /out/relayed
pgparley restart && systemctl reload pgparley-gateway && touch /out/restarted
systemctl stop pgparley-gateway pgparley-engine
systemctl show -P Result pgparley-gateway pgparley-engine > /out/results
"""


async def test_the_units_run_closed_off_and_end_by_themselves(
    wheels: dict[str, Path], upstream: Cluster, tmp_path: Path
) -> None:
    _skip_where_something_is_missing()

    async def yes(_: web.Request) -> web.Response:
        return completion("yes")

    async def models(_: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "qwen2.5-coder-1.5b-instruct-q4_k_m"}]})

    async with chat_server(yes, models) as model:
        await asyncio.to_thread(_boot, wheels, upstream, tmp_path, f"{model}/v1")
    log = (tmp_path / "log").read_text("utf-8")
    report = json.loads((tmp_path / "check.json").read_text("utf-8"))
    assert report["working"], log
    outcomes = {each["check"]: each["outcome"] for each in report["findings"]}
    assert {outcomes[name] for name in ("logins", "server", "engine", "engine's libraries", "model")} == {
        "ok"
    }, log
    for unit in ("gateway", "engine"):
        status = dict(line.split(":\t") for line in (tmp_path / f"{unit}.status").read_text().splitlines())
        assert (status["Seccomp"], status["NoNewPrivs"], int(status["CapEff"], 16)) == ("2", "1", 0)
    assert (tmp_path / "relayed").read_text() == "42\n", log
    assert (tmp_path / "restarted").exists(), log
    assert (tmp_path / "results").read_text().split() == ["success", "success"], log


def _skip_where_something_is_missing() -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, for a container")
    for program in ("systemd-nspawn", "unshare", PYTHON):
        if shutil.which(program) is None:
            pytest.skip(f"needs {program} (Debian: systemd-container, util-linux, python3)")


def _boot(wheels: dict[str, Path], upstream: Cluster, folder: Path, model: str) -> None:
    port = free_port()
    memory = folder / "memory"
    memory.mkdir()
    (folder / "outside.sh").write_text(OUTSIDE, encoding="utf-8")
    (folder / "inside.sh").write_text(INSIDE.format(port=port), encoding="utf-8")
    (folder / "try.service").write_text(UNIT, encoding="utf-8")
    # The server's own user owns its folder; the units' user has to reach the socket in it.
    Path(upstream.socket_dir).chmod(0o711)
    environment = {
        "MEMORY": str(memory),
        "PYTHON": PYTHON,
        "TESTS": sys.executable,
        "WHEELS": str(wheels["pgparley"].parent),
        "LIBRARIES": sysconfig.get_paths()["purelib"],
        "UNITS": str(ROOT / "deploy" / "systemd"),
        "FOLDER": str(folder),
        "SERVER": str(upstream.socket_dir),
        "UPSTREAM_PORT": str(upstream.port),
        "PORT": str(port),
        "MODEL": model,
    }
    command = ["unshare", "--mount", "--propagation", "private", "bash", str(folder / "outside.sh")]
    done = subprocess.run(  # noqa: S603 - our own script
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
