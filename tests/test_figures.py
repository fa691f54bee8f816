"""Every kind of figure: beside the picture that is kept of it, with all its texts inside and none on another."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from PIL import Image

import gallery
from lightlag import looks

NARROW = ("cwnd", "goodput", "rtt", "queue", "sequence", "flows", "facets", "several", "several-facets", "bars")
NARROW += ("compared-goodput", "compared-cwnd", "completion", "goodput-vs-loss", "queueing-vs-loss", "shares")
NARROW += (
    "goodput-by-rtt",
    "comparisons",
    "swarm",
    "airtime",
    "routes",
    "globe",
    "handovers",
    "timeline",
    "map",
    "sky",
)
NARROW += ("connection", "capture-comparison", "replay")

BLOCK = 4
"""Pixels that are compared together: fonts are drawn a pixel further by another version of FreeType."""
FAR = 40
"""A block whose colour is this far off, of 255, is another one."""
OTHERS = 0.01
"""The part of the blocks that may be other ones."""


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> gallery.Gallery:
    return gallery.Gallery(tmp_path_factory.mktemp("gallery"))


def blocks(picture: bytes | Path) -> np.ndarray:
    image = Image.open(picture if isinstance(picture, Path) else io.BytesIO(picture)).convert("RGB")
    return np.asarray(image.resize((image.width // BLOCK, image.height // BLOCK), Image.Resampling.BOX), dtype=float)


def others(one: np.ndarray, other: np.ndarray) -> float:
    """The part of the blocks of a picture that are not those of another."""
    assert one.shape == other.shape
    return float((np.abs(one - other).max(axis=2) > FAR).mean())


@pytest.mark.parametrize("name", gallery.names())
def test_a_figure_is_that_of_its_picture(drawn: gallery.Gallery, name: str, tmp_path: Path) -> None:
    picture = gallery.picture(drawn.draw(name))
    kept = gallery.PICTURES / f"{name}.png"
    apart = others(blocks(picture), blocks(kept))
    if apart > OTHERS:
        (tmp_path / kept.name).write_bytes(picture)
    assert apart <= OTHERS, f"compare {kept} with {tmp_path / kept.name}; make figures keeps the new one"


def test_a_missing_line_is_another_picture(drawn: gallery.Gallery) -> None:
    figure = drawn.draw("several")
    before = blocks(gallery.picture(figure))
    figure.axes[0].lines[1].remove()
    assert others(before, blocks(gallery.picture(figure))) > OTHERS


def test_the_page_shows_every_figure() -> None:
    assert (gallery.DOCS / "figures.md").read_text("utf-8") == gallery.page()
    assert {path.stem for path in gallery.PICTURES.iterdir()} == set(gallery.names())
    assert all(path.stat().st_size <= 60_000 for path in gallery.PICTURES.iterdir())


@pytest.mark.parametrize("name", gallery.names())
def test_nothing_is_cut_and_no_text_stands_on_another(drawn: gallery.Gallery, name: str) -> None:
    check(drawn.draw(name))


@pytest.mark.parametrize("style", ["plain", "ieee", "acm"])
@pytest.mark.parametrize("name", NARROW)
def test_nor_in_the_column_of_a_paper(drawn: gallery.Gallery, name: str, style: str) -> None:
    with looks.using(style, width="3.5in" if style == "plain" else None) as look:
        figure = drawn.draw(name)
    if "using" not in drawn.code(name):
        assert figure.get_figwidth() == look.width_in
    check(figure)


def check(figure: Figure) -> None:
    """Texts and legends are inside the figure, beside the data, and beside each other; a legend names what is drawn."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    whole = figure.bbox.padded(1.0)
    boxes = dict(texts(figure))
    for text, box in boxes.items():
        assert inside(box, whole), f"{text.get_text()!r} is cut"
    for one, other in itertools.combinations(boxes, 2):
        assert not overlap(boxes[one], boxes[other]), f"{one.get_text()!r} stands on {other.get_text()!r}"
    for axes in figure.axes:
        if (legend := axes.get_legend()) is not None:
            box = legend.get_window_extent()
            assert inside(box, whole), "the legend is cut"
            for other_axes in figure.axes:
                assert not overlap(box, other_axes.bbox), "the legend covers data"
        named(axes)


def texts(figure: Figure) -> Iterator[tuple[Text, Bbox]]:
    """The texts that are seen, each with the box that it takes."""
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        box = text.get_window_extent()
        seen = text.get_visible() and text.get_text().strip() and box.width > 0
        if seen and not hidden(text):
            yield text, box


def hidden(text: Text) -> bool:
    """Ticks beyond the limits of an axis are not drawn, nor is what is on axes that are not."""
    axes = text.axes
    if axes is None:
        return False
    if not axes.get_visible():
        return True
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        slack = 1e-6 * (high - low)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            if text in (tick.label1, tick.label2):
                return not axes.axison or not low - slack <= tick.get_loc() <= high + slack
        if text in (axis.label, axis.offsetText):
            return not axes.axison
    return False


def inside(box: Bbox, whole: Bbox) -> bool:
    return bool(box.x0 >= whole.x0 and box.y0 >= whole.y0 and box.x1 <= whole.x1 and box.y1 <= whole.y1)


def overlap(one: Bbox, other: Bbox) -> bool:
    """Whether boxes overlap by more than a pixel, which the room around letters takes."""
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return bool(width > 1.5 and height > 1.5)


def named(axes: Axes) -> None:
    """What a legend names can be seen in the axes."""
    legend = axes.get_legend()
    if legend is None:
        return
    lines = {str(line.get_label()): line for line in axes.lines}
    for entry in legend.get_texts():
        line = lines.get(entry.get_text())
        if isinstance(line, Line2D):
            values = np.asarray(line.get_ydata(), dtype=float)
            low, high = (0.0, 1.0) if line.get_transform() != axes.transData and len(values) else axes.get_ylim()
            if line.get_linestyle() == "None" and (values == 0).all():
                continue
            assert ((values >= low) & (values <= high)).any(), f"{entry.get_text()!r} has no line"
