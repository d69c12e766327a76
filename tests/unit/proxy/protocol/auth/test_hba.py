"""Host rules: which rule decides, and which lines are refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol.auth.hba import ClientOrigin, Method, decide, parse_rules

LOCAL = ClientOrigin(None, tls=False)
HERE = ClientOrigin("127.0.0.1", tls=False)
SECURE = ClientOrigin("2001:db8::1", tls=True)


def method(rules: str, origin: ClientOrigin = HERE, database: str = "sales", user: str = "ana") -> Method:
    return decide(parse_rules(rules), origin, database, user)


@pytest.mark.parametrize(
    ("rules", "origin", "expected"),
    [
        ("", HERE, Method.REJECT),
        ("host all all all trust", HERE, Method.TRUST),
        ("host all all all trust", LOCAL, Method.REJECT),
        ("local all all peer", LOCAL, Method.PEER),
        ("local all all peer", HERE, Method.REJECT),
        ("hostssl all all all cert", SECURE, Method.CERT),
        ("hostssl all all all cert", HERE, Method.REJECT),
        ("hostnossl all all all reject\nhost all all all md5", SECURE, Method.MD5),
        ("host all all 127.0.0.1/32 md5", HERE, Method.MD5),
        ("host all all 127.0.0.1/32 md5", ClientOrigin("::ffff:127.0.0.1", tls=False), Method.MD5),
        ("host all all 127.0.0.0 255.0.0.0 md5", HERE, Method.MD5),
        ("host all all 10.0.0.0/8 md5", HERE, Method.REJECT),
        ("host all all 2001:db8::/32 md5", SECURE, Method.MD5),
        ("host all all ::/0 md5", HERE, Method.REJECT),
        ("host sales,hr all all md5", HERE, Method.MD5),
        ("host sales, hr all all md5", HERE, Method.MD5),
        ('host "all" all all md5', HERE, Method.REJECT),
        ("host sameuser all all md5", HERE, Method.REJECT),
        ("host all bob,ana all scram-sha-256 # both", HERE, Method.SCRAM),
        ('host all "ana" all passthrough', HERE, Method.PASSTHROUGH),
        ("host all bob all trust\nhost all all all reject\nhost all all all trust", HERE, Method.REJECT),
    ],
)
def test_the_first_rule_that_fits_decides(rules: str, origin: ClientOrigin, expected: Method) -> None:
    assert method(rules, origin) is expected


def test_sameuser() -> None:
    assert method("host sameuser all all md5", database="ana") is Method.MD5


@pytest.mark.parametrize(
    "line",
    [
        "guest all all all md5", "host all all md5", "host all all example.org md5", "host all all all nothing",
        "host all all all md5 map=x", "host all +staff all md5", "host @file all all md5", "host samerole all all md5",
        "host all all all peer", "host all all all cert", "local all all cert", "host all all 300.0.0.1/8 md5",
        'host all "ana all md5', "host", "host replication all all md5",
    ],
)  # fmt: skip
def test_a_rule_that_is_not_understood_refuses_the_file(line: str) -> None:
    with pytest.raises(ValueError, match="line 2"):
        parse_rules(f"host all all all reject\n{line}\n")


@given(st.text(alphabet='hostlcal "#,/.:@+0129\n\t', max_size=60))
def test_any_text_is_rules_or_an_error(text: str) -> None:
    try:
        parse_rules(text)
    except ValueError:
        return
