"""What the referee costs: `python -m benchmarks.referee DSN`."""
