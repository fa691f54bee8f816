"""The runs of a comparison: variables, plan, outcomes, journal, and the figures that they allow."""
