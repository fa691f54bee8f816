"""The files of a network of Hypatia."""

from __future__ import annotations

__all__ = ["hypatia_network"]

SLOTS = [(5, 13), (5, 14), *((6, slot) for slot in range(11, 15)), (7, 11), (7, 12)]
SLOTS += [(18, 3), (18, 4), *((19, slot) for slot in range(1, 5)), *((20, slot) for slot in range(2, 5))]
"""Plane and slot of the satellites between Manila and Dalian in Hypatia's test."""


def summed(line: str) -> str:
    """Returns a line of a two-line element set with its checksum."""
    return line + str(sum(int(char) if char.isdigit() else char == "-" for char in line) % 10)


def hypatia_network() -> dict[str, str]:
    """Returns a part of Hypatia's Kuiper network by file name (34 planes of 34, odd ones half a slot ahead)."""
    rows = [f"1 {len(SLOTS)}"]
    for at, (plane, slot) in enumerate(SLOTS):
        number, along = 34 * plane + slot + 1, 360 / 34 * (slot + plane % 2 / 2) % 360
        rows += [
            f"Kuiper-630 {at}",
            summed(f"1 {number:05d}U 00000ABC 00001.00000000  .00000000  00000-0  00000+0 0    0"),
            summed(f"2 {number:05d}  51.9000 {360 / 34 * plane:8.4f} 0000001   0.0000 {along:8.4f} 14.80000000    0"),
        ]
    near = [(0, 1), (1, 0)]
    pairs = [
        f"{a} {b}\n"
        for a, (plane, slot) in enumerate(SLOTS)
        for b, (other, next_slot) in enumerate(SLOTS)
        if (other - plane, next_slot - slot) in near
    ]
    return {
        "tles.txt": "\n".join(rows) + "\n",
        "isls.txt": "".join(pairs),
        "ground_stations.txt": "0,Manila,14.604200,120.982200,0.000000,-3177879.42,5292603.28,1597759.17\n"
        "1,Dalian,38.913811,121.602322,0.0\n",
        "description.txt": "max_gsl_length_m=1260000.0000000000\nmax_isl_length_m=5442958.2\n",
    }
