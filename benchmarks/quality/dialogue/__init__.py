"""The dialogue benchmark: what questions back are worth, asked of a simulated user, and when the engine abstains.

`python -m benchmarks.quality.dialogue` (`make bench-dialogue`); what it measures and how: `README.md` here.
"""
