"""Handles Ctrl-C, SIGTERM and SIGHUP from the first line of the command ``lightlag``.

The command has one handler. By default it reports that nothing was written and ends the process: at that time there is
nothing to store or to clean up. Within :class:`held` it only records the signal: loops check :func:`asked`, and their
records are stored. Within :class:`raising` it raises KeyboardInterrupt, for code that has to remove a device. The
second signal ends the process in any case; files are still either complete or absent, because they get their names at
the end. :mod:`lightlag.machine.watchdog` handles signals while a custom algorithm does not return.

A program that imports lightlag keeps its own handlers: there :func:`asked` is never true.
"""

from __future__ import annotations

# The module `signal` imports others first, which takes longer than everything up to the handler.
import _signal  # type: ignore[import-not-found]
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import FrameType, ModuleType, TracebackType

__all__ = [
    "ENOUGH",
    "IS_COMMAND",
    "NUMBERS",
    "asked",
    "code",
    "end_at_once",
    "finish",
    "has_written",
    "held",
    "install",
]
__all__ += ["kept", "raising", "telling"]

NUMBERS: tuple[int, ...] = tuple(
    getattr(_signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(_signal, name)
)
ENOUGH = 2
"""Number of signals that end the process immediately, whatever it is doing."""

_received: list[int] = []
_written: list[bool] = []
"""Holds an entry once results were stored."""
_holders: list[object] = []
_raisers: list[object] = []
_tellers: list[Callable[[], str]] = []


def install() -> None:
    """Installs our handler for the signals that end a program, unless they are ignored or already have a handler."""
    for number in NUMBERS:
        if _signal.getsignal(number) in (_signal.SIG_DFL, _signal.default_int_handler):
            _signal.signal(number, _handle)
    if "polars" not in sys.modules:
        sys.meta_path.insert(0, _AfterPolars)


class _AfterPolars:
    """Restores our handlers once polars is imported.

    While polars works, its own handler of SIGINT raises KeyboardInterrupt in whichever thread is running, even within
    :class:`held`: a run that had finished would be lost.
    """

    @classmethod
    def find_spec(cls, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Returns the module polars; when its import is complete, our handlers are restored."""
        if name != "polars":
            return None
        sys.meta_path.remove(cls)
        found = next(filter(None, (finder.find_spec(name, path, target) for finder in sys.meta_path)), None)
        if found is not None and found.loader is not None:
            load = found.loader.exec_module

            def load_and_take_back(module: ModuleType) -> None:
                load(module)
                _take_back()

            found.loader.exec_module = load_and_take_back  # type: ignore[method-assign]
        return found


def _take_back() -> None:
    for number in NUMBERS:
        if _signal.getsignal(number) is _handle:
            try:
                _signal.signal(number, _handle)
            except ValueError:
                # Only the main thread may.
                return


def asked() -> bool:
    """Returns true if a signal requested the end. A loop that reads this stores its results and ends."""
    return bool(_received)


def code() -> int:
    """Returns the exit status after a signal: 128 plus the number of the first one, 130 for Ctrl-C."""
    return 128 + int(_received[0] if _received else _signal.SIGINT)


def finish() -> None:
    """Ignores further signals: the work is done, and its exit status is known."""
    for number in NUMBERS:
        if _signal.getsignal(number) is _handle:
            _signal.signal(number, _signal.SIG_IGN)


class held:  # noqa: N801
    """Defers signals until the outermost block ends. One then ends the process, unless an exception ended the block."""

    def __enter__(self) -> None:
        _holders.append(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _holders.pop()
        if kind is None:
            _written.append(True)
            if _received and not _holders:
                _end()


class raising:  # noqa: N801
    """Makes the first signal raise KeyboardInterrupt within the block."""

    def __enter__(self) -> None:
        _raisers.append(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _raisers.pop()


def end_at_once(number: int) -> None:
    """Ends the process after a second signal, from any thread."""
    if not _received:
        _received.append(number)
    kept = "finished runs of a comparison or a study are stored; run the same command to resume"
    _exit(f"ended immediately; {kept}")


def _handle(number: int, frame: FrameType | None) -> None:
    _received.append(number)
    if len(_received) >= ENOUGH:
        end_at_once(number)
    if len(_received) == 1 and not _holders:
        _end()


class telling:  # noqa: N801
    """A block during which `kept` is called if a signal ends the process.

    `kept` cleans up, and returns a text that describes which results are stored.
    """

    def __init__(self, kept: Callable[[], str]) -> None:
        self._kept = kept

    def __enter__(self) -> None:
        _tellers.append(self._kept)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _tellers.remove(self._kept)


def has_written() -> bool:
    """Returns true if a block that holds signals has ended without an error: the command has written files."""
    return bool(_written)


def kept() -> str:
    """Returns a text about the results that remain if the command ends now."""
    if _tellers:
        return _tellers[-1]()
    return "results written before are complete" if _written else "nothing was written"


def _end() -> None:
    if _raisers:
        raise KeyboardInterrupt
    _exit(kept())


def _exit(kept: str) -> None:
    """Ends the process immediately, without running code of half-loaded modules."""
    text = f"error: interrupted; {kept}\n"
    if os.isatty(2):
        # A bar may have hidden the cursor.
        text = "\r\x1b[K\x1b[?25h" + text
    try:
        os.write(2, text.encode())
    finally:
        os._exit(code())


def _is_command() -> bool:
    """Returns true if this process is the command ``lightlag``, or ``python -m lightlag``."""
    name = os.path.basename((getattr(sys, "argv", None) or [""])[0])  # noqa: PTH119
    if name != "-m":
        return name in ("lightlag", "lightlag.exe")
    given = sys.orig_argv
    return "-mlightlag" in given or ("-m" in given and given[given.index("-m") + 1 :][:1] == ["lightlag"])


IS_COMMAND = _is_command()
"""Whether this process is the command. It is known while this module loads; Python changes its arguments later."""
if IS_COMMAND:
    install()
