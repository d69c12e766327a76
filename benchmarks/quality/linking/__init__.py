"""The linking benchmark: how well a schema linker links, finds its branching points, and abstains (RTS §4).

`python -m benchmarks.quality.linking` (`make bench-abstain`); what it measures and how: `README.md` here.
"""
