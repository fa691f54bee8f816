"""Reports as self-contained HTML pages: the conclusion first, then charts, then tables.

- ``answer``: the conclusion of a comparison, in sentences.
- ``slow``: the reasons for the speed of a run, in sentences.
- ``charts``: the contents of charts, as data; ``comparison_charts`` and ``timeline`` request them from the engine.
- ``page``: the frame of a page, its tables, its style and its scripts.
- ``comparison`` and ``run``: the pages.
"""
