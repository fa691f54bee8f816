"""Runs the command line, and sends it a signal at a given point: at an event that Python reports, or at a call.

    python interrupting.py SIGNAL WHAT NUMBER ARGUMENTS...

WHAT is the name of an audit event (``import``, ``open``, ``os.rename``), ``*`` for any, ``call:NAME`` for a call of a
function of lightlag, or ``EVENT:PART`` for events whose first argument contains a text. NUMBER counts from 1; 0 sends
nothing and prints the number of events on the last line of stdout. Events are counted from the first line of lightlag's
code. The line before the last one names the modules that were imported before the signal handlers were installed.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType

number = signal.SIGINT
at = 0
kind = part = ""
seen = 0
before: list[str] = []


def count() -> None:
    global seen
    seen += 1
    if seen == at:
        os.kill(os.getpid(), number)


def on_event(event: str, arguments: tuple[object, ...]) -> None:
    if signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):
        before.extend(str(arguments[0]) for _ in range(event == "import"))
        return
    is_any = kind == "*" and event.startswith(("import", "open", "os.", "shutil.", "subprocess.", "fcntl."))
    is_it = event == kind and (not part or any(part in str(argument) for argument in arguments[:2]))
    if is_any or is_it:
        count()


def on_call(frame: FrameType, event: str, _: object) -> None:
    if event == "call" and frame.f_code.co_name == part and "lightlag" in frame.f_code.co_filename:
        count()


if __name__ == "__main__":
    number, at = signal.Signals[sys.argv[1]], int(sys.argv[3])
    kind, _, part = sys.argv[2].partition(":")
    sys.argv = ["lightlag", *sys.argv[4:]]
    # A shell that works in the background ignores one for us, nohup the other.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if kind == "call":
        sys.setprofile(on_call)
        threading.setprofile(on_call)
    else:
        sys.addaudithook(on_event)
    try:
        from lightlag.cli.app import main

        main()
    finally:
        if at == 0:
            print(*before)
            print(seen)
