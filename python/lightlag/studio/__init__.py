"""The server of ``lightlag studio``, on this machine only: the page, results, and the native engine.

- ``server``: the application and its start. ``guard``: accepted requests. ``pages``: the built page.
- ``connections``: connections that uvicorn serves. ``visitors``: connections without the token, which cannot keep out
  the owner.
- ``opening``: opens the browser. ``needs``: what an installation lacks to serve the page.
- ``api``: requests over HTTP. ``sockets``: requests over WebSockets.
- ``messages``: messages of WebSockets and the types in them.
- ``places``: the directories that the server was given. ``listing``: the results and studies in them. ``reading``:
  their tables and reports.
- ``scenarios``: scenario texts from the page, which must not name code. ``studies``: progress of a study.
- ``tasks``: processes that make runs, comparisons and studies. ``worker``: such a process. ``aside``: threads for long
  operations.
"""
