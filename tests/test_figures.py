"""Every kind of figure: compared with its stored image, with all its texts inside and none overlapping another."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Tick
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from PIL import Image

import gallery
from lightlag.drawing import styled

pytestmark = pytest.mark.long

NARROW = [
    name
    for name in gallery.names()
    if "using(" not in gallery.Gallery.code(name) and not name.startswith(("own-axes", "validation-"))
]
"""Figures that are also drawn in the width of a paper's column."""

BLOCK = 3
"""Side of the square blocks that are compared, in pixels."""
SHIFT = 2
"""Shift in blocks that is accepted: another version of matplotlib or FreeType measures texts differently."""
FAR = 60
"""Maximum difference in colour, out of 255, between blocks that count as equal."""
OTHERS, OTHERS_OF_ANOTHER_VERSION = 0.0015, 0.03
"""Accepted fraction of different blocks, with the version of matplotlib that made the stored image or another."""


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> gallery.Gallery:
    return gallery.Gallery(tmp_path_factory.mktemp("gallery"))


def blocks(picture: bytes | Path) -> np.ndarray:
    with Image.open(picture if isinstance(picture, Path) else io.BytesIO(picture)) as file:
        image = file.convert("RGB")
    return np.asarray(image.resize((image.width // BLOCK, image.height // BLOCK), Image.Resampling.BOX), dtype=float)


def others(one: np.ndarray, other: np.ndarray) -> float:
    """The fraction of blocks of one image with no similar block nearby in the other; 1 for images of other sizes."""
    rows, columns = (abs(a - b) for a, b in zip(one.shape[:2], other.shape[:2], strict=True))
    return 1.0 if max(rows, columns) > SHIFT else max(missing(one, other), missing(other, one))


def missing(one: np.ndarray, other: np.ndarray) -> float:
    rows, columns = one.shape[:2]
    around = np.pad(other, ((SHIFT, 2 * SHIFT), (SHIFT, 2 * SHIFT), (0, 0)), mode="edge")
    shifts = itertools.product(range(2 * SHIFT + 1), repeat=2)
    near = np.full((rows, columns), 255.0)
    for down, right in shifts:
        moved = around[down : down + rows, right : right + columns]
        near = np.minimum(near, np.abs(one - moved).max(axis=2))
    return float((near > FAR).mean())


@pytest.mark.parametrize("name", gallery.names())
def test_a_figure_matches_its_stored_image(drawn: gallery.Gallery, name: str, tmp_path: Path) -> None:
    picture = gallery.picture(drawn.draw(name))
    kept = gallery.PICTURES / f"{name}.png"
    with Image.open(kept) as file:
        most = OTHERS if file.info["Software"] == gallery.drawn_by() else OTHERS_OF_ANOTHER_VERSION
    apart = others(blocks(picture), blocks(kept))
    if apart > most:
        (tmp_path / kept.name).write_bytes(picture)
    assert apart <= most, f"compare {kept} with {tmp_path / kept.name}; make figures keeps the new one"


def test_a_missing_line_changes_the_image(drawn: gallery.Gallery) -> None:
    figure = drawn.drawn_anew("several")
    before = blocks(gallery.picture(figure))
    figure.axes[0].lines[1].remove()
    assert others(before, blocks(gallery.picture(figure))) > OTHERS


def test_the_page_shows_every_figure() -> None:
    assert (gallery.DOCS / "figures.md").read_text("utf-8") == gallery.page()
    assert {path.stem for path in gallery.PICTURES.iterdir()} == set(gallery.names())
    assert all(path.stat().st_size <= 60_000 for path in gallery.PICTURES.iterdir())


@pytest.mark.parametrize("name", gallery.names())
def test_nothing_is_cut_and_no_text_overlaps_another(drawn: gallery.Gallery, name: str) -> None:
    check(drawn.draw(name))


@pytest.mark.parametrize("style", ["plain", "acm"])
@pytest.mark.parametrize("name", NARROW)
def test_nor_in_the_column_of_a_paper(drawn: gallery.Gallery, name: str, style: str) -> None:
    with styled.using(style, width="3.5in" if style == "plain" else None) as look:
        figure = drawn.draw(name)
    assert figure.get_figwidth() == look.width_in
    check(figure)


def check(figure: Figure) -> None:
    """Texts and legends are inside the figure, and overlap neither data nor each other; a legend names its lines."""
    figure.savefig(io.BytesIO(), format="png")
    whole = figure.bbox.padded(1.0)
    boxes = dict(texts(figure))
    for text, box in boxes.items():
        assert inside(box, whole), f"{text.get_text()!r} is cut"
    for one, other in itertools.combinations(boxes, 2):
        assert not overlap(boxes[one], boxes[other]), f"{one.get_text()!r} overlaps {other.get_text()!r}"
    for axes in figure.axes:
        if (legend := axes.get_legend()) is not None:
            box = legend.get_window_extent()
            assert inside(box, whole), "the legend is cut"
            for other_axes in figure.axes:
                assert not overlap(box, other_axes.bbox), "the legend covers data"
        named(axes)


def texts(figure: Figure) -> Iterator[tuple[Text, Bbox]]:
    """The texts that are seen, each with the box that it takes."""
    unseen = set(unseen_labels(figure))
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        box = text.get_window_extent()
        if text.get_visible() and text.get_text().strip() and box.width > 0 and text not in unseen:
            yield text, box


def unseen_labels(figure: Figure) -> Iterator[Artist]:
    """Labels of axes that are not drawn, of ticks beyond the limits of an axis, and of ticks that it no longer uses."""
    for axes in figure.axes:
        is_shown = axes.axison and axes.get_visible()
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            slack = 1e-6 * (high - low)
            used = {*axis.get_major_ticks(), *axis.get_minor_ticks()} if is_shown else set()
            for tick in axis.findobj(Tick):
                assert isinstance(tick, Tick)
                if tick not in used or not low - slack <= tick.get_loc() <= high + slack:
                    yield from (tick.label1, tick.label2)
            if not is_shown:
                yield from (axis.label, axis.offsetText)
        if not axes.get_visible():
            yield from axes.findobj(Text)


def inside(box: Bbox, whole: Bbox) -> bool:
    return bool(box.x0 >= whole.x0 and box.y0 >= whole.y0 and box.x1 <= whole.x1 and box.y1 <= whole.y1)


def overlap(one: Bbox, other: Bbox) -> bool:
    """Whether boxes overlap by more than a pixel; less is only the margin around letters."""
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return bool(width > 1.5 and height > 1.5)


def named(axes: Axes) -> None:
    """Each line that a legend names can be seen in the axes."""
    legend = axes.get_legend()
    if legend is None:
        return
    lines = {str(line.get_label()): line for line in axes.lines}
    for entry in legend.get_texts():
        line = lines.get(entry.get_text())
        if isinstance(line, Line2D):
            values = np.asarray(line.get_ydata(), dtype=float)
            _, is_in_data = line.get_transform().contains_branch_seperately(axes.transData)
            low, high = axes.get_ylim() if is_in_data else (0.0, 1.0)
            assert ((values >= low) & (values <= high)).any(), f"{entry.get_text()!r} has no line"
