"""The engine of the page in Chromium compared with the native one, in turns: ``python benchmarks/studio``, after ``make page``.

Prints the packet-hops per second of dumbbell-8 in both, their ratio, the time of ``geo``, and the time until the page
is usable.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STUDIO = ROOT / "studio"
ROUNDS = 7


def native() -> float:
    """Returns the packet-hops of dumbbell-8 per second of CPU time."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    done = subprocess.run(
        [target / "release/lightlag-bench", "once", "dumbbell-8"], capture_output=True, check=True, text=True
    )
    told = json.loads(done.stdout)
    return float(told["packet_hops"]) / float(told["cpu_s"])


def main() -> None:
    command = ["node", "tests/measure.mjs"]
    with subprocess.Popen(command, cwd=STUDIO, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as page:
        assert page.stdin is not None and page.stdout is not None
        opened = json.loads(page.stdout.readline())
        rounds = []
        for _ in range(ROUNDS):
            before = native()
            page.stdin.write("go\n")
            page.stdin.flush()
            told = json.loads(page.stdout.readline())
            rounds.append((told["hops_per_s"], before, told["geo_ms"]))
        page.stdin.close()
    ratios = [ours / theirs for ours, theirs, _ in rounds]
    print(f"page of use after       {opened['checked_ms'] / 1e3:.2f} s, {opened['gzip_bytes'] / 1e6:.3f} MB gzip before that")
    print(f"dumbbell-8 in Chromium  {statistics.median(ours for ours, *_ in rounds) / 1e6:.1f} M packet-hops a second")
    print(f"dumbbell-8 native       {statistics.median(theirs for _, theirs, _ in rounds) / 1e6:.1f} M packet-hops a second")
    print(f"ratio                   {statistics.median(ratios):.2f} (asked: 0.65), {min(ratios):.2f} to {max(ratios):.2f}")
    print(f"geo in Chromium         {statistics.median(geo for *_, geo in rounds):.1f} ms (target: 100)")


if __name__ == "__main__":
    main()
