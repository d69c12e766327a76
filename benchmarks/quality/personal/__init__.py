"""Personalisation (Odin §8): is the first candidate right when a user meets an ambiguity for the second time?

    python -m benchmarks.quality.personal [--n PAIRS] [--sets SETS] [--half 0|1] [--plan] [--score]

A simulated user means one reading of an ambiguous column or table. The user asks a first question and chooses the first
row that is right under that reading, or else corrects with what would have been; then asks a second question. That
is answered twice: with what was learned, and by the same engine without a memory. `personal_gain` is the ratio of the
shares of second questions whose first candidate is right. What is learned goes through the engine's own learner and
store. A run that was cut off goes on where it stopped when the same command is given again. Three answers a pair.
"""
