"""The HTTP servers of dask, which a scheduler and each worker start for anyone who can reach them."""

from __future__ import annotations

from typing import Any

from distributed import Client, WorkerPlugin

__all__ = ["close_servers"]


class WithoutServer(WorkerPlugin):  # type: ignore[misc]
    """Plugin that closes the HTTP server of a worker, also of a worker that joins later."""

    name = "lightlag-without-http"

    def setup(self, worker: Any) -> None:
        """Closes the server."""
        worker.http_server.stop()


def close_servers(client: Client, *, keep_dashboard: bool) -> None:
    """Closes the HTTP servers of a cluster, except the scheduler's server if its dashboard was requested."""
    client.register_plugin(WithoutServer())
    if not keep_dashboard:
        client.run_on_scheduler(_close)


def _close(dask_scheduler: Any) -> None:
    dask_scheduler.http_server.stop()
