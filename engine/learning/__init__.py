"""Personalisation (Odin §7): what choices, corrections and rejections teach, and how later answers use it."""
