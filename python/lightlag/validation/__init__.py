"""Closed forms of TCP, beside which runs are validated."""
