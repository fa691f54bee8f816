"""The records of a run: their sources, lists, rows of text, and their origin."""
