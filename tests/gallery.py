"""The gallery of figures: every kind, with the code that draws it. ``python -m gallery`` writes docs/figures.md.

Tests compare each figure with its image on the page.
"""

from __future__ import annotations

import io
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from lightlag.drawing import looks, style
from lightlag.drawing.looks import PLAIN, Look
from lightlag.drawing.style import Chart

DOCS = Path(__file__).parents[1] / "docs"
PICTURES = DOCS / "images" / "figures"
DPI = 120
CAPTURE = Path(__file__).parent / "data/captures/linux-cubic-sender.pcap"
PAGE = Path(__file__).parent / "data/page.json"


@dataclass(frozen=True)
class Shown:
    """A figure: its name, the sentence below it, the code that draws it and, if there is one, the command."""

    name: str
    text: str
    code: str
    command: str = ""


@dataclass(frozen=True)
class Section:
    """A section of the gallery: figures that are drawn from the same runs."""

    title: str
    text: str
    code: str
    commands: tuple[str, ...] = ()
    figures: tuple[Shown, ...] = ()
    needs: tuple[Section, ...] = ()


RUNS = Section(
    "A run",
    "A download over a low orbit, and four flows that share a bottleneck.",
    """\
leo = ll.run("leo", duration="20 s", seed=1)
shared = ll.run("dumbbell", duration="20 s", seed=1)
""",
    (
        "lightlag run leo --set duration=20s --out results/leo",
        "lightlag run dumbbell --set duration=20s --out results/shared",
    ),
    (
        Shown(
            "cwnd",
            "The congestion window, with ssthresh and CUBIC's Wmax; triangles are fast recoveries.",
            "figure = ll.plot.cwnd(leo)",
            "lightlag plot results/leo -m cwnd",
        ),
        Shown(
            "goodput",
            "Goodput; the dotted line is the rate of the slowest link.",
            "figure = ll.plot.goodput(leo)",
            "lightlag plot results/leo -m goodput",
        ),
        Shown(
            "rtt",
            "Round-trip times: each sample, and the smoothed one. The path changes after 15 s.",
            "figure = ll.plot.rtt(leo)",
            "lightlag plot results/leo -m rtt",
        ),
        Shown(
            "queue",
            "Waiting packets, at the link directions with the longest queues.",
            "figure = ll.plot.queue(leo)",
            "lightlag plot results/leo -m queue",
        ),
        Shown(
            "sequence",
            "Payload sent and acknowledged.",
            "figure = ll.plot.sequence(leo)",
            "lightlag plot results/leo -m sequence",
        ),
        Shown(
            "flows",
            "Several flows of one run, and their sum.",
            "figure = ll.plot.goodput(shared)",
            "lightlag plot results/shared -m goodput",
        ),
        Shown(
            "facets",
            "Several figures as panels over the same time.",
            'figure = ll.plot.facets(leo, ["cwnd", "rtt", "goodput", "queue"])',
            "lightlag plot results/leo -m cwnd,rtt,goodput,queue",
        ),
    ),
)

SEVERAL = Section(
    "Several runs in one figure",
    "The same download over a geostationary satellite, by two algorithms.",
    """\
cubic = ll.run("geo", seed=1)
hybla = ll.run("geo", seed=1, sets={"flows.0.congestion": "hybla"})
both = {"CUBIC": cubic, "Hybla": hybla}
""",
    (
        "lightlag run geo --out results/CUBIC",
        "lightlag run geo --set flows.0.congestion=hybla --out results/Hybla",
    ),
    (
        Shown(
            "several",
            "A line for each run and flow, named after the directories.",
            "figure = ll.plot.cwnd(both)",
            "lightlag plot results/CUBIC results/Hybla -m cwnd",
        ),
        Shown(
            "several-facets",
            "Panels of several runs share one legend.",
            'figure = ll.plot.facets(both, ["cwnd", "rtt", "goodput", "sequence"])',
            "lightlag plot results/CUBIC results/Hybla -m cwnd,rtt,goodput,sequence",
        ),
        Shown(
            "several-apart",
            "A panel for each run, with the same scales.",
            'figure = ll.plot.facets(both, ["sequence", "goodput"], separate=True)',
            "lightlag plot results/CUBIC results/Hybla -m sequence,goodput --separate",
        ),
    ),
)

PAPERS = Section(
    "For papers and slides",
    "`--style ieee` and `--style acm` are as wide as a column, with a serif font of 8 pt and without titles. "
    "`--width`, `--height`, `--font`, `--dpi` and `--titles` change parts of a style. `--format pgf` writes commands "
    "of LaTeX, for the fonts of the paper; it needs no LaTeX. `inspect`, `compare-capture`, `replay` and `orbit` take "
    "the same options as `plot`.\n\n"
    'In a block `with ll.plot.using("ieee"):`, `plt.subplots()` also makes figures of this width, font and resolution.',
    "",
    (),
    (
        Shown(
            "ieee",
            "A column of an IEEE paper: 3.5 in.",
            """\
with ll.plot.using("ieee"):
    figure = ll.plot.goodput(both)
""",
            "lightlag plot results/CUBIC results/Hybla -m goodput --style ieee -o goodput.pdf",
        ),
        Shown(
            "acm",
            "A column of an ACM paper: 241.15 pt.",
            """\
with ll.plot.using("acm"):
    figure = ll.plot.facets(leo, ["cwnd", "rtt"])
""",
            "lightlag plot results/leo -m cwnd,rtt --style acm --format pgf",
        ),
        Shown(
            "slide",
            "A slide of 16:9: larger text and thicker lines.",
            """\
with ll.plot.using("slide"):
    figure = ll.plot.goodput(shared)
""",
            "lightlag plot results/shared -m goodput --style slide --format svg",
        ),
        Shown(
            "narrow",
            "A custom width and a custom font.",
            """\
with ll.plot.using(width="3.5in", font="serif"):
    figure = ll.plot.cwnd(leo)
""",
            "lightlag plot results/leo --width 3.5in --font serif",
        ),
        Shown(
            "own-axes",
            "Every function accepts your own axes and uses their settings.",
            """\
figure = Figure(figsize=(7.2, 3.2), layout="constrained")
left, right = figure.subplots(1, 2)
ll.plot.cwnd(leo, ax=left)
ll.plot.rtt(leo, ax=right)
""",
        ),
    ),
    (RUNS, SEVERAL),
)

COMPARED = Section(
    "A comparison",
    "Two algorithms with the same seeds; then with several losses, against each other, and over several distances.",
    """\
compared = ll.compare("geo", ["cubic", "bbr"], replications=4)
lossy = ll.compare("geo", ["cubic", "bbr"], replications=4, sets={"links.1.loss": 1e-3})
losses = ll.compare("geo", ["cubic", "bbr"], vary={"links.1.loss": ["1e-5", "1e-4", "1e-3"]}, replications=3)
vary = {"links.1.loss": ["1e-5", "1e-4", "1e-3", "1e-2"], "links.1.delay": ["50 ms", "125 ms", "250 ms"]}
grid = ll.compare("geo", ["cubic", "hybla", "bbr3"], vary=vary, replications=3, duration="20 s")
mixed = ll.compare("dumbbell", ["cubic/bbr", "cubic/hybla"], duration="20 s", replications=3)
distances = ll.compare("heterogeneous", ["newreno", "hybla"], duration="20 s", replications=4)
""",
    (
        "lightlag compare geo -c cubic,bbr -n 4 --out results/compared",
        "lightlag compare geo -c cubic,bbr -n 4 --set links.1.loss=1e-3 --out results/lossy",
        "lightlag compare geo -c cubic,bbr --vary links.1.loss=1e-5,1e-4,1e-3 -n 3 --out results/losses",
        "lightlag compare geo -c cubic,hybla,bbr3 --vary links.1.loss=1e-5,1e-4,1e-3,1e-2 "
        "--vary 'links.1.delay=50 ms,125 ms,250 ms' -n 3 --set duration=20s --out results/grid",
        "lightlag compare dumbbell -c cubic/bbr,cubic/hybla -n 3 --set duration=20s --out results/mixed",
        "lightlag compare heterogeneous -c newreno,hybla -n 4 --set duration=20s --out results/distances",
    ),
    (
        Shown(
            "bars",
            "Means with 95 % intervals; a dot is one run.",
            'figure = compared.plot("bars")',
            "lightlag plot results/compared -m bars",
        ),
        Shown(
            "compared-goodput",
            "Goodput over time: means of the runs, with 95 % intervals as bands.",
            'figure = compared.plot("goodput")',
            "lightlag plot results/compared -m goodput",
        ),
        Shown(
            "compared-cwnd",
            "Windows with the first seed.",
            'figure = compared.plot("cwnd")',
            "lightlag plot results/compared -m cwnd",
        ),
        Shown(
            "completion",
            "The fraction of flows that had finished.",
            'figure = compared.plot("completion")',
            "lightlag plot results/compared -m completion",
        ),
        Shown(
            "goodput-vs-loss",
            "A metric over the variable. Intervals far beyond the means are cut off, with a note.",
            'figure = losses.plot("goodput-vs-loss")',
            "lightlag plot results/losses -m goodput-vs-loss",
        ),
        Shown(
            "labels",
            "Labels instead of the names of algorithms, variables, metrics, runs, flows and links.",
            """\
labels = {"cubic": "CUBIC (Linux)", "loss": "Packet loss", "goodput": "Throughput"}
with ll.plot.using("ieee"):
    figure = losses.plot("goodput-vs-loss", labels=labels)
""",
            "lightlag plot results/losses -m goodput-vs-loss --style ieee --label cubic='CUBIC (Linux)' "
            "--label loss='Packet loss' --label goodput=Throughput",
        ),
        Shown(
            "queueing-vs-loss",
            "Queueing delay over the variable: mean and 95th percentile.",
            'figure = losses.plot("queueing-vs-loss")',
            "lightlag plot results/losses -m queueing-vs-loss",
        ),
        Shown(
            "goodput-heatmap",
            "The means over two variables: a panel for each algorithm, with one scale of colours. Cells contain their "
            "numbers where these fit.",
            'figure = grid.plot("goodput-heatmap")',
            "lightlag plot results/grid -m goodput-heatmap",
        ),
        Shown(
            "best-heatmap",
            "The algorithm with the highest goodput. Where a cell is hatched, the intervals do not distinguish it from "
            "another.",
            'figure = grid.plot("best-heatmap")',
            "lightlag plot results/grid -m best-heatmap",
        ),
        Shown(
            "completion-vs-loss",
            "Where no run finished, a cross is above the values; a hollow mark is a mean of only some of the runs.",
            'figure = grid.plot("completion-vs-loss")',
            "lightlag plot results/grid -m completion-vs-loss",
        ),
        Shown(
            "shares",
            "Goodput of each algorithm where several compete.",
            'figure = mixed.plot("shares")',
            "lightlag plot results/mixed -m shares",
        ),
        Shown(
            "goodput-by-rtt",
            "Goodput of each flow against its round-trip time.",
            'figure = distances.plot("rtt")',
            "lightlag plot results/distances -m rtt",
        ),
        Shown(
            "comparisons",
            "Several comparisons side by side. Studies have the same figures.",
            'figure = ll.plot.comparisons({"before": compared, "after": compared}, "bars")',
            "lightlag plot results/before results/after -m bars",
        ),
        Shown(
            "compared-facets",
            "Several figures of a comparison as panels, with one legend.",
            'figure = ll.plot.facets(compared, ["goodput", "completion", "cwnd"])',
            "lightlag plot results/compared -m goodput,completion,cwnd",
        ),
        Shown(
            "comparisons-apart",
            "A panel for each comparison, with the same scales.",
            'figure = ll.plot.facets({"compared": compared, "lossy": lossy}, ["goodput", "completion"], separate=True)',
            "lightlag plot results/compared results/lossy -m goodput,completion --separate",
        ),
    ),
)

SWARM = Section(
    "A swarm",
    "Drones on one radio channel, which forward each other's packets.",
    """\
swarm = ll.run("swarm", duration="6 s", seed=1)
""",
    ("lightlag run swarm --set duration=6s --out results/swarm",),
    (
        Shown(
            "swarm",
            "Nodes from above, links by SNR, and the paths of flows.",
            'with ll.plot.using(width="4in"):\n    figure = ll.plot.swarm(swarm)',
            "lightlag plot results/swarm -m swarm --width 4in",
        ),
        Shown(
            "airtime",
            "Airtime of each radio, by type of frame.",
            "figure = ll.plot.airtime(swarm)",
            "lightlag plot results/swarm -m airtime",
        ),
        Shown(
            "routes",
            "The hops of each flow over time.",
            "figure = ll.plot.routes(swarm)",
            "lightlag plot results/swarm -m routes",
        ),
    ),
)

SKY = Section(
    "A constellation",
    "The first shell of Starlink, and a run through it.",
    """\
sky = ll.sky("starlink-550")
starlink = ll.run("starlink-550", duration="20 s", seed=1)
""",
    ("lightlag run starlink-550 --set duration=20s --out results/starlink",),
    (
        Shown(
            "globe",
            "Satellites, the links between them, and the paths of flows.",
            'with ll.plot.using(width="3.5in"):\n    figure = ll.plot.globe(starlink)',
            "lightlag plot results/starlink -m globe --width 3.5in",
        ),
        Shown(
            "handovers",
            "Window and round trips of a flow, above the satellites at both ends of its path.",
            "figure = ll.plot.handovers(starlink)",
            "lightlag plot results/starlink -m handovers",
        ),
        Shown(
            "timeline",
            "The round trip of light between two stations, without a run.",
            'figure = constellation_plot.timeline(sky, "London", "New York", until_s=60)',
            'lightlag orbit starlink-550 --pair "London,New York" --seconds 60 --out results/orbit',
        ),
        Shown("map", "Stations, satellites and a ground track.", "figure = constellation_plot.map_of(sky)"),
        Shown("sky", "The satellites that a station may use.", 'figure = constellation_plot.sky_view(sky, "London")'),
    ),
)

PAGES = Section(
    "A web page",
    "A page of 16 objects over HTTP/1.1 and TLS.",
    """\
net = ll.Network("page")
net.link("server", "client", rate="10 Mbit/s", delay="40 ms")
load = {"kind": "page", "file": PAGE, "connections": 4, "count": 1}
net.flow("server", "client", traffic=load, setup={"tls": "1.3"})
page = ll.run(net, duration="20 s", seed=1)
""",
    (),
    (
        Shown(
            "waterfall",
            "A bar for each object, in the colour of its connection; below, the bytes that had arrived.",
            "figure = ll.plot.waterfall(page)",
            "lightlag plot results/page -m waterfall",
        ),
    ),
)

CAPTURES = Section(
    "A capture",
    "A connection between two kernels, read from a file.",
    """\
capture = ll.inspect(CAPTURE)
repetition = repeat(CAPTURE)
replayed = Side.of_folder(repetition.save(RESULTS / "replay"))
beside = CaptureComparison(Side.of_capture(capture.largest()), replayed)
""",
    (),
    (
        Shown(
            "connection",
            "Sequence with retransmissions, and bytes in flight.",
            "figure = capture.largest().plot()",
            "lightlag inspect real.pcapng -o connection.pdf",
        ),
        Shown(
            "capture-comparison",
            "A real connection and a simulated one over the same time.",
            "figure = beside.plot()",
            "lightlag compare-capture real.pcapng results/replay -o both.pdf",
        ),
        Shown(
            "replay",
            "A real connection and our repetition of it.",
            "figure = repetition.plot()",
            "lightlag replay real.pcapng --out results/replay",
        ),
    ),
)

JUDGED = Section(
    "A check of a congestion control",
    "The figures of `lightlag validate congestion`.",
    """\
assessed = validation.congestion("newreno", replications=2, sections=("response", "cubic", "queue"))
drawn = validation_figures(assessed)
""",
    ("lightlag validate congestion newreno --out results/newreno",),
    (
        Shown("validation-response", "The mean window against the probability of loss.", 'figure = drawn["response"]'),
        Shown("validation-share", "Its fraction of the goodput in competition with CUBIC.", 'figure = drawn["cubic"]'),
        Shown("validation-delay", "The wait at the bottleneck against its queue.", 'figure = drawn["queue"]'),
    ),
)

SECTIONS = (RUNS, SEVERAL, PAPERS, COMPARED, SWARM, SKY, PAGES, CAPTURES, JUDGED)


def names() -> list[str]:
    """The names of all figures."""
    return [shown.name for section in SECTIONS for shown in section.figures]


@dataclass
class Gallery:
    """Renders figures; the runs of a section are computed before its first figure."""

    results: Path
    names: dict[str, Any] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)
    figures: dict[tuple[str, Look], Figure] = field(default_factory=dict)

    def __post_init__(self) -> None:
        setting = (
            "import lightlag as ll\nfrom lightlag import constellation_plot\nfrom matplotlib.figure import Figure\n"
        )
        setting += (
            "from lightlag.captures.comparison import CaptureComparison\nfrom lightlag.captures.sides import Side\n"
        )
        setting += "from lightlag.captures.repetition import repeat\n"
        setting += (
            "from lightlag import validation\nfrom lightlag.validation.figures import figures as validation_figures\n"
        )
        exec(setting, self.names)
        self.names |= {"CAPTURE": CAPTURE, "PAGE": str(PAGE), "RESULTS": self.results}

    @staticmethod
    def code(name: str) -> str:
        """Returns the code of a figure."""
        return next(one.code for each in SECTIONS for one in each.figures if one.name == name)

    def draw(self, name: str) -> Figure:
        """Returns the figure of this name, which is drawn only once per look."""
        key = name, looks.current()
        if key not in self.figures:
            self.figures[key] = self.drawn_anew(name)
        return self.figures[key]

    def drawn_anew(self, name: str) -> Figure:
        """Returns a new figure of this name."""
        section, shown = next((each, one) for each in SECTIONS for one in each.figures if one.name == name)
        for needed in (*section.needs, section):
            if needed.title not in self.made:
                exec(needed.code, self.names)
                self.made.append(needed.title)
        exec(shown.code, self.names)
        figure = self.names["figure"]
        assert isinstance(figure, Figure)
        return figure


def drawn_by() -> str:
    """Returns the minor version of matplotlib, which determines the positions of texts."""
    return "matplotlib " + ".".join(matplotlib.__version__.split(".")[:2])


def picture(figure: Figure) -> bytes:
    """Returns a figure as PNG with few colours, which keeps the file small."""
    drawing = io.BytesIO()
    with matplotlib.rc_context(style.rc(figure.look if isinstance(figure, Chart) else PLAIN)):
        figure.savefig(drawing, format="png", dpi=DPI)
    drawing.seek(0)
    small = io.BytesIO()
    about = PngInfo()
    about.add_text("Software", drawn_by())
    few = Image.open(drawing).convert("RGB").quantize(128, dither=Image.Dither.NONE)
    few.save(small, "PNG", optimize=True, pnginfo=about)
    return small.getvalue()


_HEAD = """\
# Figures

Every figure that lightlag draws, with its code and command. `make figures` writes this page, and tests compare
each figure with its image here. Figures of papers are in [Validation](validation.md).

- `--out FILE` names the file, whose suffix sets the format: `.pdf`, `.svg`, `.png` or `.pgf`. Without it, `--format`
  sets the format, and the figure is written to the results directory.
- In Python, `import lightlag as ll` comes first; `figure.save("name.pdf")` writes a figure.
- `lightlag plot DIR --list` and `result.plots()` list the figures of a result, with their units.
- Figures name algorithms as papers do: `newreno` is NewReno. `--label cubic="CUBIC (Linux)"` replaces a name, as
  `labels` does in Python; `plot`, `compare --figures` and `study export --figures` take it, once for each name.
- `plot` prints a caption that states the number of seeds, the intervals and what is missing. The file contains it:
  as `Subject` in PDF, `Description` in PNG and SVG, and a comment in PGF. `--caption` also writes it for LaTeX, to a
  file that ends in `.txt`; in Python it is `figure.caption` and `figure.latex_caption`.
- Lines have the palette of Okabe and Ito, different dash patterns and different marks, so that figures are readable in
  grey. Heat maps use viridis, whose lightness grows evenly.
- A short peak far above the rest is cut off, with a mark that shows its value. Where values are that high for long, the
  axis is logarithmic, and its label states that.
"""


def page() -> str:
    """The gallery as Markdown."""
    parts = [_HEAD]
    for section in SECTIONS:
        parts.append(f"## {section.title}\n\n{section.text}\n")
        if section.code:
            parts.append(f"```python\n{_readable(section.code)}```\n")
        if section.commands:
            parts.append("```sh\n" + "\n".join(section.commands) + "\n```\n")
        for shown in section.figures:
            parts.append(f"### {shown.name}\n\n{shown.text}\n")
            parts.append(f"```python\n{_readable(shown.code).rstrip()}\n```\n")
            if shown.command:
                parts.append(f"```sh\n{shown.command}\n```\n")
            parts.append(f"![`{shown.name}`](images/figures/{shown.name}.png)\n")
    return "\n".join(parts)


def _readable(code: str) -> str:
    return code.replace("CAPTURE", '"real.pcap"').replace("PAGE", '"page.json"').replace('RESULTS / "', '"results/')


def main() -> None:
    """Writes the page and its images."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    wanted = sys.argv[1:] or names()
    with tempfile.TemporaryDirectory() as folder:
        gallery = Gallery(Path(folder))
        for name in wanted:
            (PICTURES / f"{name}.png").write_bytes(picture(gallery.draw(name)))
    (DOCS / "figures.md").write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
