"""What any model is worth behind the pipeline: a strong model's recorded answers, and what pgparley itself takes.

The recorded model answers at once and was asked once a question, so that what is measured is what becomes of its
readings: none lost on the way, none shown that it did not mean, and the time that is ours.
"""
