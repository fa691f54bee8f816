"""Network namespaces for real traffic on one machine.

They are created with ``ip netns``, and removed with their contents.
"""

from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

__all__ = ["allowed", "command", "namespaces"]

_number = itertools.count()


def allowed() -> str | None:
    """Returns why namespaces and TUN devices cannot be created here; None if they can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if not os.path.exists("/dev/net/tun"):  # noqa: PTH110
        return "/dev/net/tun is missing"
    name = _name("try")
    try:
        _ip("netns", "add", name)
        _ip("netns", "exec", name, "true")
    except OSError as error:
        return f"network namespaces cannot be made: {error}"
    finally:
        subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
    return None


@contextmanager
def namespaces(prefix: str, count: int = 2, *, settings: Mapping[str, object] = {}) -> Iterator[list[str]]:
    """Creates namespaces for the duration of the block, with ``lo`` up and kernel settings such as
    ``net.ipv4.tcp_sack``.

    Raises
    ------
    OSError
        If they cannot be made.
    """
    made: list[str] = []
    try:
        for _ in range(count):
            name = _name(prefix)
            _ip("netns", "add", name)
            made.append(name)
            _ip("-n", name, "link", "set", "lo", "up")
            for key, value in settings.items():
                _ip("netns", "exec", name, "sysctl", "-qw", f"{key}={value}")
        yield made
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def command(namespace: str, arguments: Sequence[str]) -> list[str]:
    """Returns the command that runs another one in a namespace."""
    return ["ip", "netns", "exec", namespace, *arguments]


def _name(prefix: str) -> str:
    return f"{prefix}-{os.getpid()}-{next(_number)}"


def _ip(*arguments: str) -> None:
    try:
        done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise OSError("the command ip is missing: install iproute2") from None
    if done.returncode != 0:
        raise OSError(f"ip {' '.join(arguments)}: {done.stderr.strip() or done.returncode}")
