"""The studio in Chromium: ``python benchmarks/studio``, after ``make page``.

Prints the speed of the engine against the native one, which take turns, and the work of the page's main thread in each
frame of an animation, drawn without a graphics card. Times are CPU time, so that other programs matter less.
"""

from __future__ import annotations

import json
import statistics
import struct
import subprocess
import time
from pathlib import Path
from typing import Any

from lightlag._engine import Door

ROOT = Path(__file__).resolve().parents[2]
STUDIO = ROOT / "studio"
ROUNDS = 7
PRESETS = ("dumbbell", "geo", "starlink-550", "swarm", "long-fat")
#: Preset, animation, and speed in seconds of the run per second.
ANIMATIONS = (
    ("dumbbell", "Network", 0.1),
    ("starlink-550", "Network", 0.1),
    ("starlink-550", "Globe", 1),
    ("swarm", "Swarm", 1),
)


def preset(name: str) -> str:
    """Returns the text of a preset."""
    return (ROOT / f"scenarios/{name}.toml").read_text(encoding="utf-8")


def ask(door: Door, **request: object) -> Any:
    """Returns the head of a reply from the native engine."""
    answer = door.ask(json.dumps(request))
    (length,) = struct.unpack_from("<I", answer)
    return json.loads(answer[4 : 4 + length])


def native(toml: str) -> float:
    """Returns the milliseconds of CPU time that a run takes in the native engine, with the requests of the page."""
    door = Door()
    run = ask(door, op="start", toml=toml)["run"]
    start = time.thread_time()
    door.ask(json.dumps({"op": "step", "run": run, "until_s": 1e9}))
    return 1e3 * (time.thread_time() - start)


def main() -> None:
    command = ["node", "tests/measure.mjs"]
    with subprocess.Popen(command, cwd=STUDIO, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as page:
        wishes, lines = page.stdin, page.stdout
        assert wishes is not None
        assert lines is not None

        def told(**wish: object) -> Any:
            wishes.write(json.dumps(wish) + "\n")
            wishes.flush()
            return json.loads(lines.readline())

        opened = json.loads(lines.readline())
        print(
            f"page of use after {opened['checked_ms'] / 1e3:.2f} s,"
            f" {opened['gzip_bytes'] / 1e6:.3f} MB gzip before that"
        )
        texts = {"dumbbell-8": (ROOT / "benchmarks/scenarios/dumbbell-8.toml").read_text(encoding="utf-8")}
        for name, toml in (texts | {name: preset(name) for name in PRESETS}).items():
            # The first run compiles what is called often.
            told(toml=toml)
            pairs = [(native(toml), told(toml=toml)["cpu_ms"]) for _ in range(ROUNDS)]
            ratios = [theirs / ours for theirs, ours in pairs]
            print(
                f"{name:14} {statistics.median(ours for _, ours in pairs):8.1f} ms in Chromium,"
                f" {statistics.median(theirs for theirs, _ in pairs):8.1f} ms native,"
                f" ratio {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
            )
        for name, panel, speed in ANIMATIONS:
            seen = told(toml=preset(name), panel=panel, speed=speed)
            print(
                f"{name:14} {panel:8} {seen['frames_per_s']:5.1f} frames per second,"
                f" {seen['script_cpu_ms']:.2f} ms of scripts per frame, {seen['task_cpu_ms']:.2f} ms of all tasks"
            )
        wishes.close()


if __name__ == "__main__":
    main()
