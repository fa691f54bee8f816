"""Reports as HTML pages that need nothing else: the answer first, then charts, then tables.

- ``ranking``: which rival is best, and how far the others are behind.
- ``answer``: the same in sentences, for a comparison.
- ``slow``: why a run was as fast as it was, in sentences.
- ``charts``: what a chart shows, as data; ``comparison_charts`` and ``timeline`` make them.
- ``page``: the frame of a page, its tables, its style and its scripts.
- ``comparison`` and ``run``: the pages.
"""
