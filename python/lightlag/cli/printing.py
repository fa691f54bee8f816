"""Standard output and standard error of the command ``lightlag``.

A failure to print never stops a command: it is noted, whatever follows is discarded, and :class:`streams` reports it at
the end. Results are therefore the same whether or not anybody reads the output. Characters that the encoding of the
output lacks are replaced.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
from contextlib import suppress
from types import TracebackType
from typing import cast

from lightlag import _signals

__all__ = ["FAILED", "Printer", "streams"]

FAILED = 1
"""Exit status of a command that did its work but could not print the result."""

REPLACED = "lightlag.replaced"
"""Name of the error handler for encodings that writes :data:`SUBSTITUTES`."""
SUBSTITUTES = {
    "±": "+/-",
    "–": "-",
    "−": "-",
    "─": "-",
    "→": "->",
    "×": "x",
    "≤": "<=",
    "≥": ">=",
    "µ": "u",
    "…": "...",
}
"""Replacements of characters that an encoding lacks; all others become a question mark."""


def _substitute(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(SUBSTITUTES.get(character, "?") for character in lacking), error.end


codecs.register_error(REPLACED, _substitute)


class Printer(io.TextIOWrapper):
    """A text stream that notes the first failure to write instead of raising it."""

    failure: OSError | None = None
    before: Printer | None = None
    """Another stream, which is flushed before a text is written to this one, so that both stay in order in one pipe."""

    def write(self, text: str) -> int:
        """Writes a text; discards it if an earlier one could not be written."""
        if self.before is not None:
            self.before.flush()
        try:
            return super().write(text)
        except OSError as error:
            self._note(error)
            return len(text)

    def flush(self) -> None:
        """Writes what is buffered."""
        try:
            super().flush()
        except OSError as error:
            self._note(error)

    def _note(self, error: OSError) -> None:
        self.failure = self.failure or error
        # The buffer still holds the text, and Python writes it again at exit.
        with suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)


class streams:  # noqa: N801
    """A block in which the standard streams are printers.

    At its end a failure to print to standard output is reported on standard error, and the exit status 0 becomes
    :data:`FAILED`. A closed pipe, as in ``lightlag schema | head -1``, is not a failure unless the command wrote files.
    """

    def __enter__(self) -> None:
        _open_closed()
        self._output = sys.stdout = _printer(1, sys.stdout)
        sys.stderr = printer = _printer(2, sys.stderr)
        printer.before = self._output
        if sys.stdin is None:
            sys.stdin = open(0, closefd=False)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._output.flush()
        failure = self._output.failure
        if failure is None or (isinstance(failure, BrokenPipeError) and not _signals.has_written()):
            return
        is_closed = failure.errno == errno.EBADF
        reason = "it is closed" if is_closed else failure.strerror or str(failure)
        kept = "; files were written as usual" if _signals.has_written() else ""
        print(f"error: standard output: cannot print: {reason}{kept}", file=sys.stderr)
        if error is None or (isinstance(error, SystemExit) and error.code in (None, 0)):
            raise SystemExit(FAILED) from None


def _open_closed() -> None:
    """Opens standard streams that are closed, so that no other file takes their descriptors.

    Standard output opens for reading: printing then fails, as it should.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is this one.
            os.open(os.devnull, os.O_WRONLY if number == 2 else os.O_RDONLY)
            os.set_inheritable(number, True)


def _printer(number: int, stream: object) -> Printer:
    """Returns a printer that replaces a standard stream; the stream is None if it was closed."""
    if not isinstance(stream, io.TextIOWrapper):
        raw = io.FileIO(number, "w", closefd=False)
        return Printer(io.BufferedWriter(raw), encoding="utf-8", errors=REPLACED, line_buffering=number == 2)
    # Errors and warnings appear immediately, also in a pipe or a file.
    encoding, is_by_line = stream.encoding, stream.line_buffering or number == 2
    errors = REPLACED if stream.errors in ("strict", "surrogateescape") else stream.errors
    with suppress(OSError):
        stream.flush()
    buffer = cast("io.BufferedWriter", stream.detach())
    return Printer(buffer, encoding=encoding, errors=errors, line_buffering=is_by_line)
