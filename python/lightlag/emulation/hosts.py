"""Files of simulated hosts, for ``lightlag emulate`` and ``lightlag serve-tcp``."""

from __future__ import annotations

import os
import tomllib
from typing import Any

from lightlag.errors import InputError
from lightlag.files.input import read_text

__all__ = ["parse_hosts", "read_hosts"]

Host = dict[str, Any]


def read_hosts(path: str | os.PathLike[str]) -> list[Host]:
    """Returns the hosts that a TOML file describes, one table of keys for each.

    Raises
    ------
    InputError
        If the file cannot be read, is not TOML, or has keys other than ``[[hosts]]``.
    """
    try:
        text = read_text(path)
    except OSError as error:
        raise InputError(f"{os.fspath(path)}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{os.fspath(path)}: {error}") from None
    return parse_hosts(text, os.fspath(path))


def parse_hosts(text: str, name: str = "hosts") -> list[Host]:
    r"""Returns the hosts that a text in TOML describes. `name` is the name of the text in messages.

    Raises
    ------
    InputError
        If the text is not TOML, or has keys other than ``[[hosts]]``.

    Examples
    --------
    >>> parse_hosts('[[hosts]]\nnode = "server"\naddress = "10.9.0.2"\nport = 80')
    [{'node': 'server', 'address': '10.9.0.2', 'port': 80}]
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name}: {error}") from None
    except RecursionError:
        raise InputError(f"{name}: is nested too deeply; write [[hosts]] with node and address") from None
    hosts = table.pop("hosts", [])
    if table:
        raise InputError(f'{name}: "{next(iter(table))}" is not a key; write [[hosts]] with node and address')
    if not isinstance(hosts, list) or not hosts or not all(isinstance(host, dict) for host in hosts):
        raise InputError(f"{name}: describes no host; write [[hosts]] with node and address")
    return hosts
