"""Questions in German, French, Spanish and Chinese, over schemas in those languages and over an English one.

Small databases and questions of our own. Those with odd numbers are for choosing how such questions are read, those
with even ones for figures.
"""
