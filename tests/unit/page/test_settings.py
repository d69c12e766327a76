"""Where the page may listen."""

from __future__ import annotations

from pathlib import Path

import pytest

from page.settings import Address, PageConfigError, PageSettings, address, tls_context


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (PageSettings("127.0.0.1:6480"), Address("127.0.0.1", 6480, https=False)),
        (PageSettings("[::1]:6480"), Address("::1", 6480, https=False)),
        (PageSettings("localhost:0"), Address("localhost", 0, https=False)),
        (PageSettings("10.0.0.5:443", "c", "k"), Address("10.0.0.5", 443, https=True)),
        (PageSettings("10.0.0.5:80", behind_https=True), Address("10.0.0.5", 80, https=True)),
    ],
)
def test_addresses(settings: PageSettings, expected: Address) -> None:
    assert address(settings) == expected


@pytest.mark.parametrize(
    "settings",
    [
        PageSettings(),
        PageSettings("6480"),
        PageSettings(":6480"),
        PageSettings("127.0.0.1:65536"),
        PageSettings("127.0.0.1:http"),
        PageSettings("192.168.1.1:6480"),
        PageSettings("db.example.com:6480"),
        PageSettings("10.0.0.5:6480"),
        PageSettings("127.0.0.1:6480", tls_cert_file="c"),
        PageSettings("127.0.0.1:6480", tls_key_file="k"),
    ],
)
def test_what_is_no_address_or_would_show_passwords_is_refused(settings: PageSettings) -> None:
    with pytest.raises(PageConfigError) as refused:
        address(settings)
    assert "[page]" in refused.value.hint


def test_a_certificate_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    assert tls_context(PageSettings("127.0.0.1:1")) is None
    missing = str(tmp_path / "none.pem")
    with pytest.raises(PageConfigError, match="cannot be used"):
        tls_context(PageSettings("127.0.0.1:1", missing, missing))
