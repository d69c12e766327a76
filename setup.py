"""The two compiled modules; everything else about the package stands in pyproject.toml. See docs/adr/0006."""

from __future__ import annotations

import sysconfig

from setuptools import Extension, setup

# One build for CPython 3.11 and newer. A free-threaded one has no stable interface: there the modules are its own.
STABLE = not sysconfig.get_config_var("Py_GIL_DISABLED")

setup(
    ext_modules=[
        # Optional: without a compiler the gateway works all the same, with the Python versions.
        Extension(
            name,
            [source],
            depends=["proxy/protocol/scan.h"],
            define_macros=[("Py_LIMITED_API", "0x030B0000")] if STABLE else [],
            extra_compile_args=["-O3"],
            optional=True,
            py_limited_api=STABLE,
        )
        for name, source in (
            ("proxy.protocol._scan", "proxy/protocol/_scan.c"),
            ("proxy.net._pump", "proxy/net/_pump.c"),
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {},
)
