"""Counts the words and phrases of `scripts/words.toml` in the prose of the repository."""
