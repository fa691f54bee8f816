"""The folders that the server was given. Nothing outside them is read, listed or written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lightlag.errors import InputError
from lightlag.text.terminal import printable

__all__ = ["Places"]

LONGEST = 4096
"""Characters of a name."""


@dataclass(frozen=True)
class Places:
    """Folders, by number. A place in one is named ``NUMBER/path/in/it``; new results go to the first.

    Attributes
    ----------
    roots
        The folders, absolute and without links. The first need not be there yet.
    """

    roots: tuple[Path, ...]

    @classmethod
    def of(cls, folders: Iterable[Path]) -> Places:
        """From folders as they were given.

        Raises
        ------
        InputError
            If one is no folder.
        """
        roots = tuple(dict.fromkeys(folder.resolve() for folder in folders))
        for root in roots[1:]:
            if not root.is_dir():
                raise InputError(f"--folder {printable(root)}: is no folder; name one that is there")
        if roots and roots[0].exists() and not roots[0].is_dir():
            raise InputError(f"{printable(roots[0])}: is not a folder; results go there")
        return cls(roots)

    @property
    def results(self) -> Path:
        """Where new results go."""
        return self.roots[0]

    def find(self, name: object) -> Path:
        """The path that a name stands for.

        Raises
        ------
        InputError
            If it is no name of a place, leads out of the folders, or nothing is there.
        """
        shown = f"{printable(name):.80}"
        if not isinstance(name, str) or not name or len(name) > LONGEST:
            raise InputError(f"{shown}: is no name of a place; write one from the list of results")
        number, *parts = name.split("/")
        wrong = any(part in ("", ".", "..") or part.startswith(".") or not part.isprintable() for part in parts)
        if not number.isascii() or not number.isdigit() or len(number) > 4 or wrong or "\\" in name:
            raise InputError(f"{shown}: is no name of a place; write one from the list of results")
        if int(number) >= len(self.roots):
            raise InputError(f"{shown}: there is no folder {number}; the last is {len(self.roots) - 1}")
        path = self.roots[int(number)].joinpath(*parts)
        return self.inside(path, shown)

    def inside(self, path: Path, shown: str) -> Path:
        """A path without links, if it is in one of the folders and is a file or a folder.

        Raises
        ------
        InputError
            If not. Whether something is there outside of the folders is not said.
        """
        try:
            real = path.resolve()
            exists, is_plain = real.exists(), real.is_file() or real.is_dir()
        except (OSError, ValueError, RuntimeError):
            raise InputError(f"{shown}: is no name that can be read") from None
        if not any(real.is_relative_to(root) for root in self.roots):
            folders = ", ".join(map(printable, self.roots))
            raise InputError(f"{shown}: is outside of the folders of this server, {folders}; give it with --folder")
        if not exists:
            raise InputError(f"{shown}: is not there")
        if not is_plain:
            raise InputError(f"{shown}: is neither a file nor a folder")
        return real

    def name(self, path: Path) -> str | None:
        """The name of a path; None outside of the folders. The innermost folder counts."""
        found = [(len(root.parts), number) for number, root in enumerate(self.roots) if path.is_relative_to(root)]
        if not found:
            return None
        number = max(found)[1]
        return "/".join([str(number), *path.relative_to(self.roots[number]).parts])
