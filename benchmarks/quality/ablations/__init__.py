"""The ablation benchmark: what each part that makes answers is worth, on databases that no part was fitted to.

`python -m benchmarks.quality.ablations` (`make bench-ablations`); what it measures and how: `README.md` here.
"""
