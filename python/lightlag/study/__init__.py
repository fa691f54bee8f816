"""Studies: many runs as one file, on one machine or a cluster, until a measure is known well enough.

- ``design``: a study as it is written; ``axes``, ``sampling``, ``exclusion``, ``target``: its parts.
- ``store``: finished runs by key; ``entry``: one of them.
- ``schedule``: the runs that are left; ``work``: a run and a batch of them; ``executors``: where they are made.
- ``campaign``: carries a study out; ``watch``: says how far it is.
- ``tables``, ``folder``: the results; ``study``: a study that runs, and its results.
"""

from __future__ import annotations

from lightlag.study.design import Budget
from lightlag.study.store import Store, open_store
from lightlag.study.study import Study, StudyResults, open_study
from lightlag.study.target import Target

__all__ = ["Budget", "Store", "Study", "StudyResults", "Target", "open_store", "open_study"]
