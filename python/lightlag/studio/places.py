"""The directories that the server was given. Nothing outside them is read, listed or written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lightlag.errors import InputError
from lightlag.text.terminal import printable

__all__ = ["Places"]

LONGEST = 4096
"""Maximum number of characters of a name."""


@dataclass(frozen=True)
class Places:
    """The given directories, by index. A path in one is written ``INDEX/path/in/it``; new results go to the first.

    Attributes
    ----------
    roots
        The directories, absolute and without links. The first may not exist yet.
    """

    roots: tuple[Path, ...]

    @classmethod
    def of(cls, folders: Iterable[Path]) -> Places:
        """Creates the list from the given directories.

        Raises
        ------
        InputError
            If a path is not a directory.
        """
        roots = tuple(dict.fromkeys(folder.resolve() for folder in folders))
        for root in roots[1:]:
            if not root.is_dir():
                raise InputError(f"--folder {printable(root)}: is not a directory; name an existing one")
        if roots and roots[0].exists() and not roots[0].is_dir():
            raise InputError(f"{printable(roots[0])}: is not a directory; results are written there")
        return cls(roots)

    @property
    def results(self) -> Path:
        """Directory of new results."""
        return self.roots[0]

    def find(self, name: object) -> Path:
        """Returns the path for a name.

        Raises
        ------
        InputError
            If the name is not valid, or if the path is outside of the directories or does not exist.
        """
        shown = f"{printable(name):.80}"
        if not isinstance(name, str) or not name or len(name) > LONGEST:
            raise InputError(f"{shown}: is not a valid name; use one from the list of results")
        number, *parts = name.split("/")
        wrong = any(part in ("", ".", "..") or part.startswith(".") or not part.isprintable() for part in parts)
        if not number.isascii() or not number.isdigit() or len(number) > 4 or wrong or "\\" in name:
            raise InputError(f"{shown}: is not a valid name; use one from the list of results")
        if int(number) >= len(self.roots):
            raise InputError(f"{shown}: there is no directory {number}; the last is {len(self.roots) - 1}")
        path = self.roots[int(number)].joinpath(*parts)
        return self.inside(path, shown)

    def inside(self, path: Path, shown: str) -> Path:
        """Returns a path with symbolic links resolved, if it is a file or a directory in one of the directories.

        Raises
        ------
        InputError
            If it is not. The message does not reveal whether a path outside of the directories exists.
        """
        try:
            real = path.resolve()
            exists, is_plain = real.exists(), real.is_file() or real.is_dir()
        except (OSError, ValueError, RuntimeError):
            raise InputError(f"{shown}: is not a readable name") from None
        if not any(real.is_relative_to(root) for root in self.roots):
            folders = ", ".join(map(printable, self.roots))
            raise InputError(f"{shown}: is outside the directories of this server, {folders}; give it with --folder")
        if not exists:
            raise InputError(f"{shown}: does not exist")
        if not is_plain:
            raise InputError(f"{shown}: is neither a file nor a directory")
        return real

    def name(self, path: Path) -> str | None:
        """Returns the name of a path in the innermost of the directories that hold it; None if it is outside of all."""
        found = [(len(root.parts), number) for number, root in enumerate(self.roots) if path.is_relative_to(root)]
        if not found:
            return None
        number = max(found)[1]
        return "/".join([str(number), *path.relative_to(self.roots[number]).parts])
