"""From a question in plain words to ranked, validated SQL."""
