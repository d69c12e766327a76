"""Where the page may listen."""

from __future__ import annotations

from pathlib import Path

import pytest

from page.settings import Address, PageConfigError, PageSettings, address, tls_context

HERE = "127.0.0.1:6480"


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (PageSettings(HERE), Address("127.0.0.1", 6480, https=False)),
        (PageSettings("[::1]:6480"), Address("::1", 6480, https=False)),
        (PageSettings("localhost:0"), Address("localhost", 0, https=False)),
        (PageSettings("10.0.0.5:443", "c", "k"), Address("10.0.0.5", 443, https=True)),
        (PageSettings("10.0.0.5:80", behind_https=True), Address("10.0.0.5", 80, https=True)),
        # What is no address, or would show passwords.
        *((PageSettings(each), None) for each in ("", "6480", ":6480", "127.0.0.1:65536", "127.0.0.1:http")),
        *((PageSettings(f"{each}:6480"), None) for each in ("192.168.1.1", "db.example.com", "10.0.0.5")),
        (PageSettings(HERE, tls_cert_file="c"), None),
        (PageSettings(HERE, tls_key_file="k"), None),
        (PageSettings(HERE, gateway="postgresql://db.example.com:6432"), None),
        (
            PageSettings(HERE, gateway="postgresql://db.example.com:6432/?sslmode=verify-full"),
            Address("127.0.0.1", 6480, https=False),
        ),
    ],
)
def test_addresses(settings: PageSettings, expected: Address | None) -> None:
    if expected is not None:
        assert address(settings) == expected
        return
    with pytest.raises(PageConfigError) as refused:
        address(settings)
    assert "[page]" in refused.value.hint


def test_a_certificate_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    assert tls_context(PageSettings("127.0.0.1:1")) is None
    missing = str(tmp_path / "none.pem")
    with pytest.raises(PageConfigError, match="cannot be used"):
        tls_context(PageSettings("127.0.0.1:1", missing, missing))
