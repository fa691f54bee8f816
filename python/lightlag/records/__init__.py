"""The records of a run: their sources, lists, rows of text, and where they come from."""
