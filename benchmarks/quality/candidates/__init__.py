"""The candidates benchmark: questions in words against SQL by execution, beside baselines, ablations and peers.

`python -m benchmarks.quality.candidates` (`make bench-quality`); what it measures and how: `README.md` here.
"""
