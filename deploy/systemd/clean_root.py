"""From a clean Debian to an answered question: the steps of docs/operations.md, word for word, under systemd.

    sudo python deploy/systemd/clean_root.py --work /var/tmp/clean-root

Debian 12 with PostgreSQL and no compiler, made by debootstrap, boots in systemd-nspawn. There the commands of the
page's section run as they stand: pip gets the wheels of this checkout and this machine's settings for pip, the versions
are those of constraints.txt, and `init` takes --yes because nobody answers it. Then a database is registered, psql asks
through the gateway, in SQL and in words, engine and gateway are restarted and asked again, the page is started, and all
units are stopped. Each must end well. Minutes; some 5 GB below --work; needs root, debootstrap, systemd-container, and
the ports 5432 and 6432 to 6434 of this machine, whose network the container has.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
SECTION = "## One machine, under systemd"
PACKAGES = "systemd-sysv,dbus,ca-certificates,python3,python3-venv,libgomp1,postgresql"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
UNITS = ("model", "engine", "gateway", "page")

SHOP = """
CREATE ROLE analyst LOGIN PASSWORD 'a trial';
CREATE DATABASE shop;
\\connect shop
CREATE TABLE customers (customer_id int PRIMARY KEY, name text NOT NULL, city text NOT NULL);
CREATE TABLE orders (order_id int PRIMARY KEY, customer_id int NOT NULL REFERENCES customers, total numeric NOT NULL);
INSERT INTO customers SELECT n, 'Customer ' || n, (ARRAY['Bergen', 'Oslo'])[n % 2 + 1] FROM generate_series(1, 40) n;
INSERT INTO orders SELECT n, n % 40 + 1, n * 1.5 FROM generate_series(1, 300) n;
GRANT SELECT ON customers, orders TO analyst;
"""

INSIDE = """
set -eux
cd /checkout
{documented}
pgparley() {{
    runuser -u pgparley -- env XDG_RUNTIME_DIR=/run/pgparley XDG_CACHE_HOME=/var/cache \\
        /opt/pgparley/bin/pgparley --config /etc/pgparley/pgparley.toml "$@"
}}
ask() {{ psql --host 127.0.0.1 --port 6432 --username analyst --dbname shop --no-align --tuples-only --command "$1"; }}
answer() {{ ask 'NL RUN $$How many customers are there in Bergen?$$'; }}
export PGPASSWORD='a trial'
runuser -u postgres -- psql --quiet --set ON_ERROR_STOP=1 --file /out/shop.sql
for try in $(seq 100); do pgparley check | tee /out/check | grep -q 'is ready' && break; sleep 3; done
pgparley catalog add shop --dsn postgresql:///shop
test "$(ask 'SELECT count(*) FROM orders')" = 300
test "$(answer)" = 20
systemctl restart pgparley-engine && pgparley restart
for try in $(seq 100); do pgparley check | grep -q 'is ready' && break; sleep 3; done
test "$(answer)" = 20
printf '\\n[page]\\nlisten = "127.0.0.1:6434"\\n' >> /etc/pgparley/pgparley.toml
systemctl enable --now pgparley-page
for try in $(seq 20); do
    python3 -c 'import urllib.request as u; print(u.urlopen("http://127.0.0.1:6434/").status)' && break || sleep 1
done
systemctl is-active {units}
systemd-analyze security --no-pager {units} | grep Overall
systemctl stop {units}
test "$(systemctl show --property Result --value {units} | sort -u | xargs)" = success
echo 'every step done'
"""

UNIT = """
[Unit]
After=postgresql.service
Wants=postgresql.service

[Service]
Type=oneshot
ExecStart=/bin/bash /out/inside.sh
ExecStopPost=/bin/systemctl exit --force
StandardOutput=file:/out/log
StandardError=inherit
"""


class TrialError(Exception):
    """A step failed; its text says which and how."""


def main() -> int:
    """Returns the exit status: 1 where a step failed, with the end of what was said."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True, help="for the root and what is said")
    work: Path = parser.parse_args().work.resolve()
    try:
        _tell("a clean Debian")
        root = clean_root(work)
        _tell("the wheels of this checkout")
        wheels(work / "out" / "wheels")
        _tell("the documented steps, and questions")
        began = time.monotonic()
        boot(root, work / "out")
        _tell(f"done in {time.monotonic() - began:.0f} s")
    except TrialError as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    return 0


def documented(page: str) -> str:
    """The first block of commands in the section about systemd."""
    block = re.search(r"^```\n(.*?)^```", page.partition(SECTION)[2], re.DOTALL | re.MULTILINE)
    if block is None:
        raise TrialError(f"docs/operations.md has no commands under {SECTION!r}")
    return block[1].replace(" init ", " init --yes ")


def clean_root(work: Path) -> Path:
    """A new root, from one that debootstrap made once."""
    base, root = work / "base", work / "root"
    if not (base / "usr").exists():
        _run("debootstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", str(base))
    shutil.rmtree(root, ignore_errors=True)
    _run("cp", "--archive", "--reflink=auto", str(base), str(root))
    return root


def wheels(folder: Path) -> None:
    """The wheels of this checkout."""
    shutil.rmtree(folder, ignore_errors=True)
    sources = map(str, (CHECKOUT, *(CHECKOUT / "packages").iterdir()))
    _run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), *sources)


def boot(root: Path, out: Path) -> None:
    """Boots the root, runs the steps in it, and tells what they said; raises `TrialError` where one failed."""
    steps = documented((CHECKOUT / "docs" / "operations.md").read_text("utf-8"))
    units = " ".join(f"pgparley-{name}" for name in UNITS)
    (out / "inside.sh").write_text(INSIDE.format(documented=steps, units=units), encoding="utf-8")
    (out / "shop.sql").write_text(SHOP, encoding="utf-8")
    (out / "log").unlink(missing_ok=True)
    settings = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    links = settings.get("PIP_FIND_LINKS", "").split()
    settings |= {
        "PIP_FIND_LINKS": " ".join(["/out/wheels", *links]),
        "PIP_CONSTRAINT": "/checkout/constraints.txt",
    }
    said = "".join(f'Environment="{name}={value}"\n' for name, value in settings.items())
    (root / "etc/systemd/system/trial.service").write_text(UNIT + said, encoding="utf-8")
    shutil.copyfile(CERTIFICATES, root / CERTIFICATES.lstrip("/"))
    local = [f"--bind-ro={each}" for each in links if Path(each).exists()]
    bound = [f"--bind={out}:/out", f"--bind-ro={CHECKOUT}:/checkout", *local]
    command = (
        "systemd-nspawn",
        "--quiet",
        f"--directory={root}",
        "--register=no",
        "--keep-unit",
        "--resolv-conf=copy-host",
    )
    _run(*command, *bound, "--boot", "--", "--unit=trial.service", expected=None)
    log = (out / "log").read_text("utf-8", "replace") if (out / "log").exists() else "it did not boot\n"
    if not log.endswith("every step done\n"):
        raise TrialError(log[-4000:])
    sys.stdout.write("".join(line for line in log.splitlines(keepends=True) if not line.startswith("++")))


def _run(*command: str, expected: int | None = 0) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if expected is not None and done.returncode != expected:
        raise TrialError(
            f"{shlex.join(command)[:200]}: {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}"
        )


def _tell(what: str) -> None:
    sys.stdout.write(f"{what} …\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
