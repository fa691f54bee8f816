"""Studies: many runs as one file, on one machine or a cluster, until a metric is known precisely enough.

- ``design``: the definition of a study; ``axes``, ``sampling``, ``exclusion``, ``target``: its parts.
- ``store``: finished runs by key; ``entry``: one of them.
- ``schedule``: the runs that are left; ``work``: a run and a batch of them; ``executors``: threads, processes and
  clusters that make them.
- ``campaign``: carries a study out; ``watch``: reports its progress.
- ``tables``, ``folder``: the results; ``study``: the class of a study that can be run, and its results.
"""

from __future__ import annotations

from lightlag.study.design import Budget
from lightlag.study.store import Store, open_store
from lightlag.study.study import Study, StudyResults, open_study
from lightlag.study.target import Target

__all__ = ["Budget", "Store", "Study", "StudyResults", "Target", "open_store", "open_study"]
