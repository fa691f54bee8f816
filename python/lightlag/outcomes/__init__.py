"""The runs of a comparison: variables, plan, outcomes, journal, and what figures there are."""
