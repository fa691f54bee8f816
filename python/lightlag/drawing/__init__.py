"""The parts of every figure: looks, axes, titles, legends, curves, films."""
