"""The built page. Its files are held in memory by their paths, so that no request accesses the disk."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from lightlag.errors import InputError
from lightlag.studio.needs import missing

__all__ = ["BUILT", "Pages"]

BUILT = Path(__file__).parent / "page"
"""Directory of the page that belongs to this installation."""
KINDS = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".toml": "text/plain; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
PACKED = {".br": "br", ".gz": "gzip"}
"""Suffixes of files that were compressed when the page was built, the preferred one first."""
SMALLEST = 1024
"""Minimum size in bytes of a file that is compressed."""


@dataclass(slots=True)
class File:
    """A file of the page.

    Attributes
    ----------
    kind
        Media type of the file.
    forms
        Content by encoding; ``identity`` is the file itself.
    tag
        Digest of the content.
    """

    kind: str
    forms: dict[str, bytes]
    tag: str = field(init=False)

    def __post_init__(self) -> None:
        content = self.forms["identity"]
        self.tag = hashlib.sha256(content).hexdigest()[:32]
        if "gzip" not in self.forms and len(content) >= SMALLEST and not self.kind.startswith(("image/png", "font/")):
            self.forms["gzip"] = gzip.compress(content, 6, mtime=0)


class Pages:
    """Serves the files of a directory.

    Parameters
    ----------
    directory
        The built page.
    port
        The server's port, for the content security policy of the page.

    Raises
    ------
    InputError
        If the page has not been built.
    """

    def __init__(self, directory: Path, port: int) -> None:
        if lacks := missing(directory):
            raise InputError(lacks)
        self._files = _read(directory)
        # Some browsers do not count WebSockets of the same host to 'self'.
        sockets = " ".join(f"ws://{name}:{port}" for name in ("127.0.0.1", "localhost"))
        self._policy = (
            "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; worker-src 'self'; "
            f"connect-src 'self' {sockets}; img-src 'self' data: blob:; font-src 'self'; manifest-src 'self'; "
            "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
        )

    def answer(self, request: Request) -> Response:
        """Returns the file at the path of a request."""
        path = request.url.path
        file = self._files.get("/index.html" if path == "/" else path)
        if file is None:
            return Response("no such page\n", 404, media_type="text/plain")
        accepted = {part.split(";")[0].strip() for part in request.headers.get("accept-encoding", "").split(",")}
        encoding = next((one for one in ("br", "gzip") if one in accepted and one in file.forms), "identity")
        tag = f'"{file.tag}-{encoding}"'
        # Files below assets have a digest in their names.
        lasts = "public, max-age=31536000, immutable" if path.startswith("/assets/") else "no-cache"
        headers = {"etag": tag, "vary": "accept-encoding", "cache-control": lasts}
        headers["content-security-policy"] = self._policy
        if tag in (one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")):
            return Response(status_code=304, headers=headers)
        if encoding != "identity":
            headers["content-encoding"] = encoding
        return Response(file.forms[encoding], headers=headers | {"content-type": file.kind})


def _read(directory: Path) -> dict[str, File]:
    found: dict[str, File] = {}
    paths = sorted(path for path in directory.rglob("*") if path.is_file() and not path.is_symlink())
    for path in paths:
        if path.suffix in PACKED and path.with_suffix("").is_file():
            continue
        forms = {"identity": path.read_bytes()}
        for suffix, encoding in PACKED.items():
            packed = path.with_name(path.name + suffix)
            if packed.is_file():
                forms[encoding] = packed.read_bytes()
        kind = KINDS.get(path.suffix, "application/octet-stream")
        found[f"/{path.relative_to(directory).as_posix()}"] = File(kind, forms)
    return found
