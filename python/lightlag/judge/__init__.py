"""A congestion control judged as lightlag judges its own: ``lightlag validate congestion NAME``.

Each section is a module: its scenarios, its measures, its table and its verdict. Tolerances are constants there.
"""

from lightlag.judge.judgement import Judgement, Section, congestion

__all__ = ["Judgement", "Section", "congestion"]
