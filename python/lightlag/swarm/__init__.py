"""Swarms: places and ways from tables, figures, and a page that plays."""
