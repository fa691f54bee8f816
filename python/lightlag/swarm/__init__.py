"""Swarms: positions and paths from tables, figures, and an animated page."""
