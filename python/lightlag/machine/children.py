"""Child processes that end when their parent does, even if that is killed.

Children with a pipe as standard input end when it does (``_drawing``, ``studio.worker``). Others call
:func:`end_with_parent`, or are started with the command of :func:`tied`.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Sequence

__all__ = ["end_with_parent", "tied"]

_PR_SET_PDEATHSIG = 1
_TIED = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
# The parent may have ended before.
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""


def end_with_parent() -> None:
    """Ends this process, which multiprocessing started, as soon as its parent has ended.

    A worker of a pool waits for work in a pipe but also holds the other end of this pipe, and would therefore wait for
    ever. On Linux the kernel kills it, also if native code holds Python's lock, when the thread of the parent that
    started it ends.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None, "this process was started by multiprocessing"
    if sys.platform == "linux":
        # The thread below also notices a parent that ended before.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def tied(command: Sequence[str]) -> list[str]:
    """Returns a command that runs `command` until the calling thread ends.

    Its first word must be a path. Linux only.
    """
    return [sys.executable, "-S", "-E", "-c", _TIED, str(os.getpid()), *command]
