"""The tolerances of the experiment cards, fixed before the first run. No result changes one."""

from __future__ import annotations

BOUND = 0.0
"""A bound is satisfied or it is not: our median must not exceed it (draft-kuhn-quic-4-sat, tests of picoquic)."""

PRINTED = 0.15
"""Maximum deviation of our median from a printed median, mean or single run.

The printed values are of one seed or one program each: its pacing, its ACK policy and the sizes of its messages move a
transfer by a few percent, and one value in three rounds of slow start by more.
"""

OWN = 0.15
"""Maximum deviation of an own check: goodput kept with fewer ACKs, and their number divided by the threshold."""

EQUAL = 0.02
"""Maximum difference of the mean goodputs of QUIC and TCP with equal constants.

A full packet of 1500 B carries 1448 B of data with TCP (timestamps) and 1438 B with QUIC (short header of 11 B, STREAM
frame of 7 B, tag of 16 B, UDP), which is 0.7 %. Both lose the same data packets.
"""
