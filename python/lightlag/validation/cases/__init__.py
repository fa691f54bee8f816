"""The test cases of BBR: the appendix of draft-ietf-ccwg-bbr, as scenarios with criteria (``lightlag validate bbr``).

:mod:`~lightlag.validation.cases.catalogue` lists the cases, and :mod:`~lightlag.validation.cases.assess` runs them. A
case (:mod:`~lightlag.validation.cases.case`) has a path, steps that place an event where an earlier run with the same
seed showed a phase, and checks with their ranges.
"""
