"""The fuzzer of the protocol: `python -m tests.fuzz --minutes 10`."""
