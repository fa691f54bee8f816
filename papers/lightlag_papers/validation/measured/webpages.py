"""Pages that measurements of page loads use, in the form of the files that ``kind = "page"`` reads.

`lightlag.presets.page_file` returns the same pages as files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["PAGES", "almanac", "etsi_kepler"]

KIB = 1024
HEADERS = 260
"""Size of the headers of a response in bytes; ours, as h2o sends without cookies."""
REQUEST = 400
"""Size of a request in bytes; ours, as Chromium sends without cookies."""

KEPLER_HTML = 17_323
KEPLER_CSS = (644, 96, 189, 190, 90, 109, 7668, 13_201, 16_517)
KEPLER_FRAMES = (
    *(61_031, 27_462, 26_434, 23_536, 26_043, 5366, 3885, 97_147, 38_100, 1659, 1547, 881, 1064, 924, 866, 995),
    *(747, 646, 685, 1520, 879, 1056, 1146, 663, 1372, 666, 2126, 843, 387, 481, 899, 115_557),
)
"""Texts in frames, which stand for scripts, style sheets and documents."""
KEPLER_IMAGES = (
    *(46_336, 46_108, 46_820, 743, 754, 770, 757, 822, 772, 751, 778, 797, 728, 765, 760, 2257, 2731, 2125, 2001),
    *(1908, 2367, 2992, 2870, 1947, 2608, 2150, 2292, 2226, 1951, 2102, 46, 98),
)
KEPLER_BINARY = 130_032

DESKTOP = {
    "document": (2, 18),
    "css": (8, 78),
    "font": (4, 131),
    "script": (24, 613),
    "image": (18, 1054),
    "all": (71, 2652),
}
"""Medians of desktop pages in October 2024: requests of any page, and KB of home pages, by type."""
MOBILE = {
    "document": (2, 18),
    "css": (8, 73),
    "font": (3, 111),
    "script": (22, 558),
    "image": (16, 900),
    "all": (66, 2311),
}
"""Medians of mobile pages."""


def etsi_kepler() -> dict[str, Any]:
    """Returns the ETSI Kepler reference page of 2011: 75 objects and 816 kB, without compression, on one host."""
    listed = [_object("index", KEPLER_HTML, "document")]
    # Frames are documents, which Chromium requests before images.
    parts = (("css", KEPLER_CSS, "css"), ("frame", KEPLER_FRAMES, "document"), ("image", KEPLER_IMAGES, "image"))
    for name, sizes, kind in parts:
        listed += [_object(f"{name}{number}", size, kind) for number, size in enumerate(sizes, start=1)]
    listed.append(_object("binary", KEPLER_BINARY, "document"))
    source = (
        "ETSI Kepler web reference page (2011), sizes as served by the testbed of Kosek et al. 2022, and 260 B of "
        "headers per response (ours). Objects wait for the complete document."
    )
    return {"source": source, "objects": listed}


def _object(name: str, size: int, kind: str, **others: Any) -> dict[str, Any]:
    return {"id": name, "size": size + HEADERS, "request": REQUEST, "type": kind, **others}


def almanac(medians: Mapping[str, tuple[int, int]], client: str) -> dict[str, Any]:
    """Returns a page with the medians of the Web Almanac 2024.

    Medians of types do not add up to the median of all. The remaining requests and bytes, with the second HTML file,
    are objects of the type `other`. Objects of a type have one size. Fonts wait for the first style sheet, other
    objects for the first script, and everything else for the document.

    Parameters
    ----------
    medians
        Number of requests and KB by type, and of all types.
    client
        Text for the source: "desktop" or "mobile".
    """
    listed = [{"id": "document1", "size": medians["document"][1] * KIB, "type": "document", "server_time": "100 ms"}]
    follows: Mapping[str, Sequence[str]] = {"font": ("css1",), "other": ("script1",)}
    hosts = {"image": "images", "font": "fonts", "other": "others"}
    kinds = {kind: medians[kind] for kind in ("css", "font", "script", "image")}
    count, size = (medians["all"][at] - sum(kind[at] for kind in kinds.values()) for at in (0, 1))
    kinds["other"] = (count - 1, size - medians["document"][1])
    for kind, (number, total) in kinds.items():
        others: dict[str, Any] = {"after": list(follows[kind])} if kind in follows else {}
        if kind in hosts:
            others["host"] = hosts[kind]
        each = round(total * KIB / number)
        listed += [{"id": f"{kind}{at}", "size": each, "type": kind} | others for at in range(1, number + 1)]
    source = (
        f"Medians of {client} pages in October 2024: Web Almanac 2024, chapter Page Weight, of the HTTP Archive. Ours: "
        "equal sizes within a type, the objects of the type other, hosts, dependencies and the server time of 100 ms."
    )
    return {"source": source, "objects": listed}


PAGES: Mapping[str, Callable[[], dict[str, Any]]] = {
    "etsi-kepler": etsi_kepler,
    "desktop-2024": lambda: almanac(DESKTOP, "desktop"),
    "mobile-2024": lambda: almanac(MOBILE, "mobile"),
}
"""The pages by the names of their files."""
