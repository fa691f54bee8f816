"""Parts that all figures share: looks, axes, titles, legends, curves and films."""
