"""`pgparley serve` as an operator meets it: workers on one port, signals, rolling restart, metrics."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest
import trustme

from pgparley import health
from pgparley.cluster import Cluster
from tests.conftest import free_port
from tests.support.parts import command, port_of, relaying

WORKERS = 2


@dataclass
class Service:
    """A running `pgparley serve gateway`."""

    folder: Path
    config: Path
    port: int
    metrics: int
    process: subprocess.Popen[bytes] = field(init=False)

    def __post_init__(self) -> None:
        words = command(self.config, "serve", "gateway")
        with (self.folder / "log").open("wb") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log)  # noqa: S603 - our own program
        _eventually(lambda: len(self.workers()) == WORKERS)

    def connect(self, **words: Any) -> psycopg.Connection[Any]:
        return psycopg.connect(
            host="127.0.0.1", port=self.port, user="postgres", dbname="postgres", autocommit=True, **words
        )

    def console(self) -> psycopg.Connection[Any]:
        return psycopg.connect(
            host=str(self.folder), port=self.port, user="pgparley", dbname="pgparley", autocommit=True
        )

    def workers(self) -> set[int]:
        """The process ids of the workers that answer."""
        try:
            with self.console() as console:
                rows = console.execute("SHOW MEM").fetchall()
        except psycopg.OperationalError:
            return set()
        return {int(row[0].removeprefix("worker_")) for row in rows}

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(30)


def _eventually(test: Any, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not test():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def serving(upstream: Cluster, folder: Path, more: str = "") -> Iterator[Service]:
    metrics = free_port()
    config = folder / "pgparley.toml"
    config.write_text(
        f"""workers = {WORKERS}
{relaying(upstream)}unix_socket_dir = "{folder}"
prometheus_listen = "127.0.0.1:{metrics}"
{more}
[engine]
socket = "{folder}/e.sock"
"""
    )
    running = Service(folder, config, port_of(config), metrics)
    yield running
    running.stop()


@pytest.fixture
def service(upstream: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    yield from serving(upstream, tmp_path_factory.mktemp("s"))


@pytest.fixture(scope="module")
def lasting(upstream: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """For those who leave it as it was: all its workers answer."""
    yield from serving(upstream, tmp_path_factory.mktemp("s"))


def test_workers_share_a_port_and_the_console_shows_all(lasting: Service) -> None:
    sessions = [lasting.connect() for _ in range(16)]
    with lasting.console() as console:
        rows = console.execute("SHOW CLIENTS").fetchall()
        assert len(rows) == len(sessions)
        assert {row[-1] // 10_000_000 for row in rows} <= lasting.workers()
        url = f"http://127.0.0.1:{lasting.metrics}/metrics"
        with urllib.request.urlopen(url, timeout=5) as page:
            text = page.read().decode()
        counts = [
            float(line.split()[-1]) for line in text.splitlines() if line.startswith("pgparley_sessions{")
        ]
        assert len(counts) == WORKERS
        assert sum(counts) == len(sessions)
        assert 'pgparley_sessions_by_state{state="idle",worker=' in text
    for session in sessions:
        session.close()


def test_a_rolling_restart_refuses_nobody(lasting: Service) -> None:
    before = lasting.workers()
    held = lasting.connect()
    failures: list[Exception] = []
    count = [0]
    done = threading.Event()

    def reconnect() -> None:
        while not done.is_set():
            try:
                with lasting.connect() as connection:
                    connection.execute("SELECT 1")
                count[0] += 1
            except psycopg.Error as problem:
                failures.append(problem)

    clients = [threading.Thread(target=reconnect) for _ in range(4)]
    for client in clients:
        client.start()
    try:
        subprocess.run(command(lasting.config, "restart"), check=True, timeout=60)  # noqa: S603 - our own program
    finally:
        done.set()
        for client in clients:
            client.join()
    assert failures == []
    assert count[0] > 20
    # The session that was open goes on in its old worker, which ends with it.
    held.execute("SELECT 1")
    after = lasting.workers()
    assert len(after - before) == WORKERS
    assert len(after & before) == 1
    held.close()
    _eventually(lambda: lasting.workers() == after - before)


def test_a_dead_worker_is_replaced(lasting: Service) -> None:
    victim, other = sorted(lasting.workers())
    os.kill(victim, signal.SIGKILL)
    _eventually(lambda: len(lasting.workers() - {victim}) == WORKERS)
    assert other in lasting.workers()
    lasting.connect().close()
    assert not list(lasting.folder.glob(f"e-*.workers/*{victim}*"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_who_still_works_at_the_end_of_grace_is_told(
    number: signal.Signals, upstream: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for service in serving(upstream, tmp_path_factory.mktemp("s"), "shutdown_grace = 0.5"):
        idle, working = service.connect(), service.connect()
        idle.execute("BEGIN")
        working.pgconn.send_query(b"SELECT pg_sleep(60)")
        service.process.send_signal(number)
        assert service.process.wait(20) == 0
        with pytest.raises(psycopg.errors.AdminShutdown):
            idle.execute("SELECT 1")
        result = working.pgconn.get_result()
        assert result is not None
        assert result.error_field(psycopg.pq.DiagnosticField.SQLSTATE) == b"57P01"
        idle.close()
        working.close()


def test_a_stop_is_no_failure_of_accepting(
    upstream: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("s")
    issued = trustme.CA().issue_cert("localhost")
    issued.private_key_and_cert_chain_pem.write_to_path(folder / "pem")
    (folder / "pem").chmod(0o600)
    tls = f"client_tls_sslmode = 'allow'\nclient_tls_cert_file = '{folder}/pem'\nclient_tls_key_file = '{folder}/pem'"
    for service in serving(upstream, folder, tls):
        service.process.send_signal(signal.SIGINT)
        assert service.process.wait(20) == 0
    log = (folder / "log").read_text()
    assert '"stopped"' in log
    assert "accept_failed" not in log


def test_a_worker_that_hangs_is_found(lasting: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "RUNTIME", lasting.folder)
    monkeypatch.setattr(health, "SECONDS", 1.0)
    address = f"127.0.0.1:{lasting.port}"
    for worker in lasting.workers():
        assert health.main("gateway", address) == 0
        os.kill(worker, signal.SIGSTOP)
        try:
            assert health.main("gateway", address) == 1
        finally:
            os.kill(worker, signal.SIGCONT)
    assert health.main("gateway", address) == 0


def test_sighup_reloads_every_worker(lasting: Service) -> None:
    good = lasting.config.read_text()
    lasting.config.write_text(good.replace("[engine]", "max_client_conn = 0\n[engine]"))
    lasting.process.send_signal(signal.SIGHUP)

    def refused() -> bool:
        try:
            lasting.connect().close()
        except psycopg.OperationalError as problem:
            return "max_client_conn" in str(problem)
        return False

    _eventually(lambda: all(refused() for _ in range(4)))
    with lasting.console() as console:
        lasting.config.write_text("nonsense")
        lasting.process.send_signal(signal.SIGHUP)
        with pytest.raises(psycopg.Error, match="RELOAD failed"):
            console.execute("RELOAD")
        lasting.config.write_text(good)
        console.execute("RELOAD")
    _eventually(lambda: not any(refused() for _ in range(4)))


def test_sigusr_pauses_and_resumes(lasting: Service) -> None:
    def paused(word: str) -> bool:
        with lasting.console() as console:
            return ("paused", word) in console.execute("SHOW STATE").fetchall()

    lasting.process.send_signal(signal.SIGUSR1)
    _eventually(lambda: paused("yes"))
    lasting.process.send_signal(signal.SIGUSR2)
    _eventually(lambda: paused("no"))
    lasting.connect().close()


def test_workers_that_cannot_start_leave_no_client_waiting(lasting: Service) -> None:
    """Settings were spoilt, and the workers died: clients are refused until the settings are mended."""
    good = lasting.config.read_text()
    lasting.config.write_text(good.replace("[engine]", 'auth_type = "hba"\n[engine]'))
    for worker in lasting.workers():
        os.kill(worker, signal.SIGKILL)

    def refused() -> bool:
        try:
            lasting.connect(sslmode="disable", connect_timeout=3).close()
        except psycopg.OperationalError as problem:
            return "cannot start its worker" in str(problem)
        return False

    _eventually(refused)
    lasting.config.write_text(good)
    _eventually(lambda: len(lasting.workers()) == WORKERS)
    lasting.connect().close()


def test_sigterm_waits_for_clients_and_a_second_one_does_not(service: Service) -> None:
    session = service.connect()
    service.process.send_signal(signal.SIGTERM)

    def refused() -> bool:
        try:
            service.connect().close()
        except psycopg.OperationalError:
            return True
        return False

    _eventually(refused)
    assert session.execute("SELECT 1").fetchone() == (1,)
    service.process.send_signal(signal.SIGTERM)
    service.process.wait(20)
    with pytest.raises(psycopg.OperationalError):
        session.execute("SELECT 1")
    assert not list(service.folder.glob("e-*.workers/*.sock"))


def test_sigint_ends_sessions_that_rest(service: Service) -> None:
    session = service.connect()
    session.execute("SELECT 1")
    service.process.send_signal(signal.SIGINT)
    assert service.process.wait(20) == 0
    with pytest.raises(psycopg.errors.AdminShutdown):
        session.execute("SELECT 1")


def test_shutdown_on_the_console_refuses_at_once_and_waits_for_clients(service: Service) -> None:
    sessions = [service.connect() for _ in range(4)]
    with service.console() as console:
        console.execute("SHUTDOWN WAIT_FOR_CLIENTS")

    def refused() -> bool:
        try:
            service.connect(connect_timeout=3).close()
        except psycopg.errors.ConnectionTimeout:
            pytest.fail("a new client waits in the queue of a listening socket")
        except psycopg.OperationalError:
            return True
        return False

    _eventually(lambda: all(refused() for _ in range(8)))  # every worker has heard of it
    for session in sessions:
        assert session.execute("SELECT 1").fetchone() == (1,)
        session.close()
    assert service.process.wait(20) == 0
