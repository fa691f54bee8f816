"""The requests of the studio over HTTP.

Every request has the header ``Authorization: Bearer TOKEN``; a POST also has ``Origin``, as browsers send it. Replies
are JSON unless stated otherwise; an error is ``{"error": {"message": ...}}`` with a status of 400 or above. A ``place``
is a name such as ``0/geo``: the index of a directory in ``folders``, then the path in it.

- ``GET /api/about``: ``version``, ``build``, ``cores``, ``folders`` (as they are shown), ``file``: null, or
  ``name``, ``text``, ``format`` ("toml" or "json"), ``files`` (by name, in base 64) and ``error`` (null or a
  message) of the scenario that was opened.
- ``GET /api/results``: ``entries``, the latest first, each with ``place``, ``kind`` ("run", "comparison", "study",
  "reproduction", "study file", "scenario"), ``name``, ``scenario``, ``date`` (UTC), ``hash``; ``more``: whether
  there are more.
- ``GET /api/summary?place=``: the summary of a run, as ``lightlag run --json``; of other results their
  ``run.json``.
- ``GET /api/file?place=``: a scenario below the directories, or the complete one of a run, as ``file`` above.
- ``GET /api/table?place=&table=&first=0&rows=1000000&columns=a,b``: rows of a table in the engine's format
  (``columns.py``).
- ``POST /api/report`` with ``{"place": ...}``: a temporary ``address`` of the report. It opens in a frame,
  needs no token, and its scripts cannot access this server.
- ``GET /api/study?place=&store=``: the progress of a study, as ``lightlag study status --json``.

WebSockets (``sockets.py``) take ``{"token": ...}`` as the first message and reply ``{"event": "welcome"}``.

- ``/door``: the native engine. Text messages ``{"id": 7, "op": ..., ...}`` with a request to the engine; the reply is a
  binary message: the id (u32, little endian), then the engine's reply. Runs of a connection end with it.
- ``/tasks``: text messages both ways; events have the ``id`` of their request. A task ends with ``end``, and its id is
  free again; ``refused`` is the reply to a request whose id is not free. When the connection ends, its tasks are
  cancelled; records so far are stored.

  - ``{"id", "op": "run", "scenario": text, "format"?, "files"?: {name: base64}, "base"?: place, "seeds"?: [..],
    "sets"?: [[key, value]], "duration"?, "threads"?: 1, "jobs"?}``: events of ``worker.py``, with ``place`` in
    ``result``.
  - ``{"id", "op": "compare", "scenarios": [text], "congestion"?: [..] | {label: ..}, "vary"?: {key: [..]},
    "replications"?: 10, "seed"?, "sets"?, "duration"?, "files"?, "base"?, "jobs"?}``: the same. A cancelled comparison
    resumes when it is requested again.
  - ``{"id", "op": "study", "study": place, "store"?: place, "jobs"?}``: makes the runs of a study file that its store
    does not hold: ``status`` as for ``watch``, then ``result`` with ``place``. The store is the named one, or ``store``
    among the results, next to the study, or next to its directory; if none exists, it is created among the results.
  - ``{"id", "op": "watch", "study": place, "store"?: place}``: events ``status`` with the reply of ``/api/study``, when
    it changes.
  - ``{"id", "op": "cancel"}``: ends the task with this id.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from lightlag import _engine
from lightlag.errors import InputError, ScenarioError
from lightlag.machine.processors import processors
from lightlag.studio import reading, studies
from lightlag.studio.aside import aside
from lightlag.studio.guard import RefusedError
from lightlag.studio.listing import Listing
from lightlag.studio.places import Places
from lightlag.studio.scenarios import opened

__all__ = ["Api"]

P = ParamSpec("P")
T = TypeVar("T")
AT_ONCE = 2
"""Maximum number of simultaneous requests that read results."""
MOST_REPORTS = 8
"""Maximum number of reports with a valid address; the oldest is dropped first."""
REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
"""Content policy of a report, which contains its scripts.

In a sandbox it has no origin, so they cannot send requests here.
"""


class Api:
    """The HTTP API of the studio.

    Parameters
    ----------
    file
        The scenario to open, a file or the name of a preset.
    """

    def __init__(self, places: Places, file: str | None) -> None:
        self._places, self._file = places, file
        self._listing = Listing(places)
        self._reports: OrderedDict[str, str] = OrderedDict()
        self._reading = asyncio.Semaphore(AT_ONCE)

    def routes(self) -> list[Route]:
        """Returns the routes."""
        return [
            Route("/api/about", self._about),
            Route("/api/results", self._results),
            Route("/api/summary", self._summary),
            Route("/api/file", self._opened),
            Route("/api/table", self._table),
            Route("/api/report", self._report, methods=["POST"]),
            Route("/api/study", self._study),
            Route("/report/{ticket}", self._shown),
        ]

    async def _about(self, request: Request) -> Response:
        file = None if self._file is None else await self._read(opened, self._file, self._places)
        folders = [str(root) for root in self._places.roots]
        about = {"version": _engine.__version__, "build": _engine.__build__, "cores": processors()}
        return JSONResponse(about | {"folders": folders, "file": file})

    async def _results(self, request: Request) -> Response:
        return JSONResponse(await self._read(self._listing.entries))

    async def _summary(self, request: Request) -> Response:
        found = await self._read(reading.summary, self._places, _asked(request, "place"))
        return Response(json.dumps(found), media_type="application/json")

    async def _opened(self, request: Request) -> Response:
        place = _asked(request, "place")
        path = await self._read(self._places.find, place)
        if path.is_dir():
            path = await self._read(reading.folder_of, self._places, place)
        return JSONResponse(await self._read(opened, str(path), self._places))

    async def _table(self, request: Request) -> Response:
        columns = [name for name in request.query_params.get("columns", "").split(",") if name]
        rows = _number(request, "rows", reading.MOST_ROWS)
        asked = (_asked(request, "place"), _asked(request, "table"), _number(request, "first", 0), rows, columns)
        content = await self._read(reading.table, self._places, *asked)
        return Response(content, media_type="application/octet-stream")

    async def _report(self, request: Request) -> Response:
        try:
            place = json.loads(await request.body())["place"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise RefusedError(400, 'the request is not a JSON object; send {"place": "0/geo"}') from None
        page = await self._read(reading.report, self._places, place)
        ticket = secrets.token_urlsafe(24)
        self._reports[ticket] = page
        while len(self._reports) > MOST_REPORTS:
            self._reports.popitem(last=False)
        return JSONResponse({"address": f"/report/{ticket}"})

    async def _shown(self, request: Request) -> Response:
        page = self._reports.get(request.path_params["ticket"])
        if page is None:
            raise RefusedError(404, "this report has expired; open it again from the list of results")
        # A document in a sandbox must not isolate its opener.
        opener = {"cross-origin-opener-policy": "unsafe-none"}
        return HTMLResponse(page, headers={"content-security-policy": REPORT_POLICY} | opener)

    async def _study(self, request: Request) -> Response:
        def look() -> dict[str, Any]:
            path = self._places.find(_asked(request, "place"))
            store = studies.store_of(path, self._places, request.query_params.get("store"))
            return studies.status(studies.read(path, self._places), store)

        return JSONResponse(await self._read(look))

    async def _read(self, function: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Calls a function in a thread; its errors become errors of the request."""
        async with self._reading:
            try:
                return await aside(function, *args, **options)
            except (InputError, ScenarioError) as error:
                raise RefusedError(400, str(error)) from None
            except (OSError, MemoryError) as error:
                raise RefusedError(500, f"cannot be read: {error}") from None


def _asked(request: Request, key: str) -> str:
    values = request.query_params.getlist(key)
    if len(values) != 1:
        raise RefusedError(400, f"{key}: is missing or duplicated; give it once in the address")
    return values[0]


def _number(request: Request, key: str, default: int) -> int:
    text = request.query_params.get(key, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise RefusedError(400, f"{key}: {text!r:.40} is not a whole number")
    return int(text)
