"""Validation: closed forms of TCP, and the checks of one congestion control (``lightlag validate congestion NAME``).

:mod:`~lightlag.validation.theory` has the closed forms. Each section of an assessment is a module: its scenarios, its
metrics, its table and its verdict. Tolerances are constants in these modules.
"""

from lightlag.validation.assessment import Assessment, Section, congestion

__all__ = ["Assessment", "Section", "congestion"]
