"""The candidates benchmark: questions in words against SQL by execution, beside one candidate and the model alone.

`python -m benchmarks.quality.candidates` (`make bench-quality`); what it measures and how: `README.md` here.
"""
