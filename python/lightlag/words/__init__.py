"""Explanations of the words that scenarios, results and warnings hold."""
