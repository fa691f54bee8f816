"""The server behind ``lightlag studio``, on this machine only: the page, results, and the native engine.

- ``server``: the application and its start. ``guard``: which requests are answered. ``pages``: the built page.
- ``connections``: connections as uvicorn serves them. ``visitors``: those without the token, which cannot keep out the
  owner.
- ``opening``: a browser that is led to the page.
- ``api``: what is asked over HTTP. ``sockets``: what is asked over WebSockets.
- ``messages``: messages of WebSockets and the types in them.
- ``places``: the folders that it was given. ``listing``: the results and studies in them. ``reading``: their tables
  and reports.
- ``scenarios``: texts from the page, without code. ``studies``: how far a study is.
- ``tasks``: processes that run and compare. ``worker``: such a process. ``aside``: threads for what takes long.
"""
