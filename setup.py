"""The two compiled modules; everything else about the package stands in pyproject.toml. See docs/adr/0006."""

from __future__ import annotations

from setuptools import Extension, setup

setup(
    ext_modules=[
        # Optional: without a compiler the gateway works all the same, with the Python versions.
        Extension(
            name, [source], depends=["proxy/protocol/scan.h"], extra_compile_args=["-O3"], optional=True
        )
        for name, source in (
            ("proxy.protocol._scan", "proxy/protocol/_scan.c"),
            ("proxy.net._pump", "proxy/net/_pump.c"),
        )
    ]
)
