"""Ten labs for a class on networks: scenarios, questions, and a checker that computes the right answers by simulation.

Examples
--------
>>> from lightlag import course
>>> course.lab("lab1").title
'Slow start'
>>> course.check("lab1", {"q1": "10 segments", "q2": "12 segments"}).verdicts()[:3]
['right', 'wrong', 'missing']
"""

from __future__ import annotations

from lightlag.course.answers import Answers, read_answers, template
from lightlag.course.catalogue import LABS, lab
from lightlag.course.checking import Checked, Report, check
from lightlag.course.contents import Lab
from lightlag.course.question import Question
from lightlag.course.solving import Solved, solution

__all__ = [
    "LABS",
    "Answers",
    "Checked",
    "Lab",
    "Question",
    "Report",
    "Solved",
    "check",
    "lab",
    "read_answers",
    "solution",
    "template",
]
