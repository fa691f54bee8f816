"""Explanations of the terms of scenarios, results and warnings."""
