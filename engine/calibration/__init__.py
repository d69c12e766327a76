"""Conformal selection: scores of candidates, thresholds with a promise, and what the promise is worth (Odin §6)."""
