"""Validation: closed forms of TCP, and the checks of one congestion control (``lightlag validate congestion NAME``).

:mod:`~lightlag.validation.theory` has the closed forms. Each section of an assessment is a module: its scenarios, its
metrics, its table and its verdict. Tolerances are constants in these modules. :mod:`~lightlag.validation.cases` has the
test cases of the Internet-Draft on BBR (``lightlag validate bbr``), each as a section.
"""

from lightlag.validation.assessment import Assessment, Section, congestion
from lightlag.validation.cases.assess import bbr

__all__ = ["Assessment", "Section", "bbr", "congestion"]
