"""The images of gateway, page and model, run as closed off as compose has them: health, stop signals, kill -9."""

from __future__ import annotations

import pytest

from tests.containers.container import Container, Site, eventually, podman
from tests.support.gguf import small_model, write_model

pytestmark = [pytest.mark.slow, pytest.mark.timeout(4000)]

STOPS = ("SIGINT", "SIGTERM")

TO_WORKERS = """
import glob, os, signal, sys
for path in glob.glob("/proc/[0-9]*/cmdline"):
    with open(path, "rb") as file:
        if b"-m\\0pgparley." + b"processes" in file.read():
            os.kill(int(path.split("/")[2]), getattr(signal, sys.argv[1]))
"""

AT_IT = "SELECT count(*) FROM pg_stat_activity WHERE query ~ '^SELECT pg_sleep'"


@pytest.fixture(scope="module")
def gateway(site: Site, images: dict[str, str]) -> Container:
    site.postgres(["postgres"], {})
    return site.container(
        "gateway",
        images["gateway"],
        "--env=PGPARLEY_GATEWAY_UPSTREAM_HOST=postgres",
        "--env=PGPARLEY_GATEWAY_LISTEN_ADDR=*",
        f"--volume={site.volume('run')}:/run/pgparley",
        f"--volume={site.volume('cache')}:/var/cache/pgparley",
        "--tmpfs=/tmp",
    )


@pytest.fixture(scope="module")
def model(
    site: Site, images: dict[str, str], gateway: Container, tmp_path_factory: pytest.TempPathFactory
) -> Container:
    del gateway  # The network is there.
    file = tmp_path_factory.mktemp("model") / "small.gguf"
    write_model(file, small_model(layers=2))
    return site.container(
        "model",
        images["model"],
        "--env=PGPARLEY_MODEL_API_KEY=key",
        "--env=PGPARLEY_EMBEDDED_MODEL_PATH=/small.gguf",
        "--env=PGPARLEY_EMBEDDED_MODEL_CONTEXT=1024",
        "--env=PGPARLEY_EMBEDDED_MODEL_SEQUENCES=1",
        f"--volume={file}:/small.gguf:ro",
        f"--volume={site.volume('model')}:/var/lib/pgparley-model",
        "--tmpfs=/tmp",
    )


@pytest.fixture(params=["gateway", "model"])
def part(request: pytest.FixtureRequest) -> Container:
    """Each, running and well."""
    made: Container = request.getfixturevalue(request.param)
    made.until_well()
    return made


def relayed(site: Site) -> str:
    return site.psql(6432, "postgres", "SELECT 6 * 7").strip()


def test_nobody_important_runs_it_and_nothing_can_be_written(part: Container) -> None:
    status = dict(
        line.split(":\t", 1) for line in part.run("cat", "/proc/1/status").splitlines() if ":\t" in line
    )
    assert status["Name"].startswith(("python", "pgparley"))
    assert status["Uid"].split()[0] == "10001"
    assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == 0
    assert status["NoNewPrivs"] == "1"
    assert podman("exec", part.name, "touch", "/new", check=False).returncode != 0


@pytest.mark.parametrize("number", STOPS)
def test_a_stop_signal_ends_the_first_process(part: Container, number: str) -> None:
    part.signal(number)
    assert part.ended(9) == 0


def test_who_was_killed_comes_back(part: Container, site: Site) -> None:
    part.signal("SIGKILL")
    assert part.ended(9) == 137
    assert not part.healthy()
    part.until_well()
    if part.name.endswith("gateway"):
        assert relayed(site) == "42"
        found = part.run(
            "find", "/run/pgparley", "-name", ".s.PGSQL.*", "-o", "-name", "gateway-*.sock"
        ).split()
        assert len(found) == 2


def test_the_gateways_health_check_finds_a_worker_that_hangs(gateway: Container, site: Site) -> None:
    gateway.until_well()
    assert relayed(site) == "42"
    gateway.run("python", "-I", "-c", TO_WORKERS, "SIGSTOP")
    assert not gateway.healthy()
    gateway.run("python", "-I", "-c", TO_WORKERS, "SIGCONT")
    gateway.until_well(10)


def test_clients_are_told_before_the_container_is_killed(gateway: Container, site: Site) -> None:
    gateway.until_well()
    working = site.asking(6432, "SELECT pg_sleep(100)")
    eventually(lambda: site.psql(5432, "postgres", AT_IT).strip() == "1")
    podman("stop", "--time=10", gateway.name)
    assert "gateway shuts down" in working.communicate(timeout=20)[0]
    assert gateway.ended(1) == 0


def test_the_page(site: Site, images: dict[str, str], gateway: Container) -> None:
    del gateway  # The network is there.
    page = site.container(
        "page",
        images["gateway"],
        "--env=PGPARLEY_ENGINE_STORE=postgresql://postgres@postgres/postgres",
        "--env=PGPARLEY_PAGE_LISTEN=0.0.0.0:6480",
        "--env=PGPARLEY_PAGE_BEHIND_HTTPS=true",
        f"--volume={site.volume('page-run')}:/run/pgparley",
        f"--volume={site.volume('page-cache')}:/var/cache/pgparley",
        "--tmpfs=/tmp",
        "--health-cmd=python -I -m pgparley.health page",
        arguments=["serve", "page"],
    )
    page.until_well()
    for number in STOPS:
        page.signal(number)
        assert page.ended(9) == 0
        assert "page stopping" in page.log()
        page.until_well()
