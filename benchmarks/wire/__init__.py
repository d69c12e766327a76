"""The gateway beside PgBouncer and a direct connection: throughput, latency, bulk, reconnecting, memory.

    python -m benchmarks.wire [--rounds N] [--only NAME] [--json FILE]

`systems` starts what is compared, `cells` are the measurements, `rounds` repeats them side by side, `extras` are those
that need no rounds.
"""
