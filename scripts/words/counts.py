"""Hits of the whole repository by area and kind, and the stored counts, which only fall."""

from __future__ import annotations

import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath

from words import prose, rules
from words.prose import Kind

ROOT = Path(__file__).parents[2]
STORED = ROOT / "scripts" / "words-counts.toml"
KINDS: tuple[Kind, ...] = ("comment", "string", "page")
DEEP = {"python": 3, "papers": 3, "studio": 3}
"""Number of directories that make an area; two elsewhere."""

Counts = dict[str, dict[str, int]]
"""Number of hits by area and kind."""


@dataclass(frozen=True)
class Found:
    """A hit in a file."""

    path: str
    kind: Kind
    hit: rules.Hit

    @property
    def area(self) -> str:
        """The directory in which it counts."""
        return area_of(self.path)

    def __str__(self) -> str:
        rule = self.hit.rule
        return f'{self.path}:{self.hit.line}: "{self.hit.phrase}" [{rule.name}]: {rule.write}'


def area_of(path: str) -> str:
    """Returns the directory in which the hits of a file count; a file at the top is an area."""
    parts = PurePath(path).parts
    return "/".join(parts[: min(DEEP.get(parts[0], 2), max(1, len(parts) - 1))])


def files() -> list[str]:
    """Returns the paths of the files in the repository that may hold prose."""
    skip = rules.read().skip
    listed = _git("ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    return [
        path
        for path in sorted(set(listed))
        if prose.is_read(PurePath(path)) and not any(_is_in(path, one) for one in skip) and (ROOT / path).is_file()
    ]


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True, text=True).stdout


def _is_in(path: str, place: str) -> bool:
    return path == place or path.startswith(f"{place}/")


def found_in(path: str, source: str) -> Iterator[Found]:
    """Yields the hits of a file."""
    known = rules.read()
    for passage in prose.passages(PurePath(path), source):
        for hit in known.hits(passage):
            yield Found(path, passage.kind, hit)


def find() -> list[Found]:
    """Returns all hits of the repository."""
    return [hit for path in files() for hit in found_in(path, (ROOT / path).read_text("utf-8"))]


def count(found: Iterable[Found]) -> Counts:
    """Returns the number of hits by area and kind."""
    counts: Counts = {}
    for one in found:
        kinds = counts.setdefault(one.area, {})
        kinds[one.kind] = kinds.get(one.kind, 0) + 1
    return counts


def stored() -> Counts:
    """Reads the stored counts."""
    return tomllib.loads(STORED.read_text("utf-8"))


def risen(counts: Counts, limits: Counts) -> list[tuple[str, Kind]]:
    """Returns the areas and kinds with more hits than are stored."""
    return [
        (area, kind)
        for area in sorted(counts)
        for kind in KINDS
        if counts[area].get(kind, 0) > limits.get(area, {}).get(kind, 0)
    ]


def lowered(counts: Counts, limits: Counts) -> Counts:
    """Returns the counts to store: the lower ones of each area.

    An area that is new takes its hits from areas that are gone, so that a directory can be renamed.

    Raises
    ------
    ValueError
        If an area has more hits than are stored, or the new areas more than the areas that are gone.
    """
    new = {area: kinds for area, kinds in counts.items() if area not in limits}
    gone = {area: kinds for area, kinds in limits.items() if not (ROOT / area).exists()}
    more = risen({area: kinds for area, kinds in counts.items() if area in limits}, limits)
    if more or total(new) > total(gone):
        raise ValueError(f"counts rise in {', '.join(f'{area} ({kind})' for area, kind in more) or ', '.join(new)}")
    return counts


def total(counts: Counts) -> int:
    """Returns the sum of all counts."""
    return sum(sum(kinds.values()) for kinds in counts.values())


def write(counts: Counts) -> None:
    """Stores counts."""
    lines = ["# Hits of the rules in words.toml by area and kind of prose. They only fall: `make words-keep`.", ""]
    for area in sorted(counts):
        kinds = ", ".join(f"{kind} = {counts[area][kind]}" for kind in KINDS if counts[area].get(kind))
        lines.append(f'"{area}" = {{ {kinds} }}')
    STORED.write_text("\n".join(lines) + "\n", "utf-8")


def in_zero(found: Iterable[Found]) -> list[Found]:
    """Returns the hits in places that must have none."""
    places = [place.partition(":")[::2] for place in rules.read().zero]
    return [one for one in found if any(_is_in(one.path, path) and kind in ("", one.kind) for path, kind in places)]


def added(found: Iterable[Found], area: str, kind: Kind) -> list[Found]:
    """Returns the hits of an area that came after the counts were stored, or all of them if Git cannot say."""
    here = [one for one in found if one.area == area and one.kind == kind]
    try:
        base = _git("log", "-1", "--format=%H", "--", str(STORED.relative_to(ROOT))).strip()
        changed = _git("diff", "--name-only", "--no-renames", base, "--", area).splitlines() if base else []
    except subprocess.CalledProcessError:
        return here
    before: Counter[tuple[str, str, str]] = Counter()
    for path in filter(lambda path: prose.is_read(PurePath(path)), changed):
        try:
            source = _git("show", f"{base}:{path}")
        except subprocess.CalledProcessError:
            continue
        before.update((path, one.hit.rule.name, one.hit.phrase) for one in found_in(path, source) if one.kind == kind)
    tracked = set(_git("ls-files", "--", area).splitlines())
    new = []
    for one in here:
        key = (one.path, one.hit.rule.name, one.hit.phrase)
        if one.path not in changed and one.path in tracked:
            continue
        if before[key]:
            before[key] -= 1
        else:
            new.append(one)
    return new or here
