"""The catalog benchmark: what a large catalog takes, what joins its names imply, what terms of the business are worth.

`python -m benchmarks.catalog` (`make bench-catalog`).
"""
