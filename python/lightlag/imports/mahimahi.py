"""Traces of mahimahi: a time in milliseconds for each opportunity to deliver 1500 bytes."""

from __future__ import annotations

from pathlib import Path

from lightlag.imports import texts
from lightlag.imports.found import LONGEST_S, Found, Measured, Options
from lightlag.imports.sample import all_match

__all__ = ["ABOUT", "read", "recognises"]

ABOUT = "delivery opportunities in milliseconds, of mahimahi"

recognises = all_match(r"^\d+$")


def read(path: Path, options: Options) -> Found:
    """Returns the delivery opportunities as text that the engine can read."""
    times: list[int] = []
    for at, line in texts.lines(path):
        word = line.strip()
        if not (word.isascii() and word.isdigit()) or len(word) > 12 or int(word) > LONGEST_S * 1000:
            texts.fail(path, f"{word!r:.40} is not an integer number of milliseconds up to 480 h", at)
        if times and int(word) < times[-1]:
            texts.fail(
                path,
                f"the time goes back from {times[-1]} to {word}; lines are in the order of time; if they are delays, "
                "name the file with --delays",
                at,
            )
        times.append(int(word))
    if times[-1] == 0:
        texts.fail(path, "the last time is 0: the trace starts again at its last time, so that is above 0")
    seconds = times[-1] / 1000
    found = Found(f"{len(times)} opportunities to deliver 1500 bytes in {seconds:g} s, of mahimahi.")
    found.opportunities = "".join(f"{time}\n" for time in times)
    found.rate = Measured(len(times) * 12_000 / seconds, "the mean of the trace, which replaces it")
    found.duration_s = seconds
    found.side = "backward" if ".down" in path.suffixes[-2:] else "forward"
    found.is_backward = found.side == "backward"
    found.notes.append("A .down file is for the direction to the client, any other file for the direction from it.")
    return found
