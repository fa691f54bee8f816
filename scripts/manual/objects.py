"""The keys of the JSON objects that commands print and result directories hold.

Rows of tables are declared where the tables are: `docs/results.md` and the page of comparisons. The keys around the
tables are declared here; `tests/test_manual.py` compares them with what the commands print.
"""

from __future__ import annotations

OBJECTS: dict[str, dict[str, str]] = {
    "lightlag run --json": {
        "scenario": "the scenario as run, with every default and change",
        "seed": "start of every random stream",
        "version": "version of lightlag",
        "simulated_s": "simulated time in seconds",
        "events": "events that the engine handled",
        "packet_hops": "passages of one packet through one link, drops included",
        "result_hash": "hash over every recorded number",
        "wall_s": "seconds that the run took on this machine",
        "flows, links, proxies, legs, tunnels, media, interfaces": "rows of these tables, where there are some",
    },
    "run.json of a run": {
        "scenario, seed, version, simulated_s, wall_s, events, packet_hops, result_hash": "as above",
        "interrupted": "whether the run was stopped before its end",
        "files": "files that belong to the results",
        "origin": "what computed the results: versions, platform, command",
        "repeat": "command that computes the results again",
    },
    "lightlag compare --json": {
        "comparison": "labels of the algorithms",
        "version": "version of lightlag",
        "finished": "runs that have finished",
        "complete": "whether these are all runs",
        "design": "scenario, algorithms, variables, first seed and number of seeds",
        "folder": "directory of the results",
        "summary": "rows of the table `summary`",
        "conclusion": "`headline`, the best candidate with its lead and costs, and `sentences` about the others",
        "origin": "what computed the results: versions, platform, command",
        "repeat": "command that computes the results again",
    },
    "run.json of a comparison": {
        "comparison, version, finished, complete, design": "as above",
        "files": "files that belong to the results",
        "origin": "what computed the results: versions, platform, command",
        "repeat": "command that computes the results again",
    },
    "lightlag check --json": {
        "file": "scenario that was checked",
        "valid": "whether it can be run",
        "errors": "errors, if it cannot: `place` and `message` of each",
        "warnings": "settings that spoil the result: `place` and `message` of each",
        "routes": "paths of flows that change during the run",
        "rain_outages": "fraction of time in which rain stops each link direction with rain",
    },
    "lightlag diff --json": {
        "kind": "kind of what is compared: a run, a comparison or a scenario",
        "equal": "whether nothing differs",
        "a, b": "both sides: `name`, `scenario` and `version` of each",
        "input": "keys that differ: `key`, `a` and `b`",
        "result_hashes": "hashes of both, if the input is the same",
        "measures": "for each flow and measure: `a`, `b`, `difference`, `relative`, and whether one side alone has it",
    },
    "lightlag why FILE --json": {
        "flow": "name of the flow",
        "goodput_bps, completion_s": "means over the seeds; `completion_s` is null unless every transfer finishes",
        "seeds": "number of seeds; 1 if nothing is random",
        "cause": "name of the cause; null if none has an effect of 10 %",
        "effects": "causes, the most important first: `cause`, `gain` (speed without it relative to the speed with it, "
        "minus 1) with `gain_low` and `gain_high`, `is_large`, `is_set`, `statement`, `fix` and `change`, the keys "
        "that remove it",
        "latency": "queueing delay at the bottleneck, if it is large: `queueing_s`, `min_rtt_s`, and with FQ-CoDel "
        "`shortened_s` and `gain`",
        "skipped": "causes that were not examined, with the error of the scenario without them",
        "capture": "for a capture: `vantage`, the durations `real_s` and `model_s` of what `measure` names, "
        "`is_repeated` (they differ by at most 15 %), and the `scenario`; otherwise null",
    },
    "lightlag course check LAB ANSWERS --json": {
        "lab, student": "name of the lab, and of the student as the file has it",
        "points, of": "points of the right answers, and of all",
        "questions": "`id`, `verdict` (right, wrong, missing) and `message` (a hint) of each",
    },
    "lightlag list WHAT --json": {
        "congestion, queues, profiles, scenarios, papers": "entries of the requested list, the only key:  "
        "`name` and `about` of each",
    },
    "lightlag reproduce PAPER --json": {
        "paper": "name of the paper, as `lightlag list papers` has it",
        "title": "title of the paper",
        "reference": "authors, journal and year",
        "version": "version of lightlag",
        "summary": "verdicts in a sentence",
        "lead": "the reading of the paper that fits best, in a paragraph; empty if it is read in one way only",
        "tally": "number of rows with each verdict",
        "rows": "claims and own checks, as text: `item`, `quantity`, `paper` (the printed value), "
        "`closed form or model`, `lightlag`, `verdict` and `note` of each",
        "tables": "tables in the layout of the paper: `name`, `title`, `header` and `lines` of each",
        "figures": "figures in the directory: `name` and `caption` of each",
        "notes": "paragraphs about choices that the paper leaves open",
    },
    "lightlag reproduce all --json": {
        "version, summary, tally": "as above, of all papers together",
        "papers": "an object for each paper, as above",
    },
    "lightlag validate tcp --json": {
        "validated": "the word `tcp`",
        "version": "version of lightlag",
        "holds": "whether every check holds",
        "failures": "those that do not hold, a sentence each",
        "closed_forms": "comparisons with closed forms: `reference` (what is compared), `point`, `command`, `ours`, "
        "`theory`, `deviation`, `holds` (null where nothing is checked) and `tolerance` of each",
        "windows": "mean windows under random losses: `algorithm`, `p` (probability of loss), `rtt_s`, `ours`, "
        "`formula` and `model` in segments, `losses` (their number), `waiting` (fraction of the time), `holds` and "
        "`reason` of each",
        "transport": "comparisons of other parts of the transport, with the keys of closed forms",
        "papers": "an object for each paper, as of `lightlag reproduce`",
    },
    "lightlag validate kernel --json": {
        "validated": "the word `kernel`",
        "version": "version of lightlag",
        "holds": "whether every criterion holds",
        "criteria": "`criterion`, `found` and `holds` of each",
        "cells": "measurements at one place of a path: `group`, `place`, runs of the `kernel` and `ours`, their mean "
        "times `kernel_s` and `ours_s`, `goodput_ratio` and `holds`",
    },
    "lightlag validate measured --json": {
        "validated": "the word `measured`",
        "version": "version of lightlag",
        "agrees, differs, no_verdict": "number of rows with each verdict",
        "sections": "an object for each section: `section`, `title`, `about` (paragraphs), `figures`, and `rows` with "
        "`source`, `setting`, `quantity`, `unit`, `measured` and `ours` (each `value`, `low`, `high`), `ratio`, "
        "`verdict` and `reason`",
    },
    "lightlag validate quic --json": {
        "validated": "the word `quic`",
        "version": "version of lightlag",
        "agrees, differs, no_verdict": "number of printed numbers with each verdict",
        "rows": "an object for each printed number: `card`, `setup`, `sender`, `setting`, `kind` (bound, median, mean, "
        "run, own, open), `quantity`, `unit`, `printed`, `ours` (`value`, `low`, `high`; null if not finished), "
        "`ratio`, "
        "`verdict`, and `changes` with `change` and `ratio` of each",
        "equal": "an object for each path with equal constants: `rate_mbps`, `rtt_ms`, `loss`, `congestion`, "
        "`quic_mbps`, `tcp_mbps`, `ratio`, `standard_error`, `verdict` and `changes`",
    },
    "lightlag validate congestion --json": {
        "congestion": "algorithm that was checked",
        "replications": "runs at each point",
        "seed": "the first seed",
        "scale": "factor of the durations: 1 outside of tests",
        "version": "version of lightlag",
        "complete": "whether every section has finished",
        "sections": "an object for each section: `title`, `verdict`, `holds` (null where nothing is checked), `rows` "
        "of its table, and numbers next to it",
    },
    "lightlag validate bbr --json": {
        "congestion, replications, seed, scale, version, complete": "as of `lightlag validate congestion --json`",
        "subject": "the document with the test cases",
        "sections": "an object for each case, and one on invariants: `title`, `verdict`, `holds` (null where the "
        "algorithm has no such state or rule) and `rows`; a row has `check`, `expected`, `measured` and its half "
        "width, `least`, `largest`, `seeds` and `verdict`",
    },
    "lightlag inspect FILE --json": {
        "packets, tcp_packets": "number of packets, and of TCP packets",
        "tcp_bytes": "their bytes, headers of IP and TCP included",
        "start_ns": "time of the first packet, in nanoseconds since 1970",
        "duration_s": "seconds from the first packet to the last",
        "connections": "connections, largest first: `number`, `client`, `server`, `start_s`, `duration_s`, `state`, "
        "`initial_rtt_s`, and counts of packets, bytes and repairs in `forward` and `backward`",
        "others": "number of packets of other protocols",
        "omitted": "small connections that are not listed: `connections`, `packets` and `payload_bytes` of all",
        "interfaces": "names of the interfaces",
        "without_time": "packets without a time, which are left out",
        "note": "reason why the file could not be read to its end, if there is one",
        "interrupted": "whether reading was stopped",
        "trace_thinned": "whether the curves of a long capture leave points out",
    },
    "lightlag compare-capture REAL SIMULATED --json": {
        "data_s": "seconds from the first data to its last ACK: `real`, `simulated` and `ratio`, as of all others",
        "unique_bytes, data_segments, answer_packets": "payload without repetitions, segments with data, packets back",
        "goodput_bps": "payload without repetitions over time, in bit/s",
        "retransmitted_segments": "segments that were retransmitted",
        "fast_retransmissions, timeout_retransmissions": "those by fast retransmission, and by timeout",
        "spurious_retransmissions": "those that had arrived",
        "out_of_order, duplicate_acks, sack_blocks, zero_windows, ce_packets": "their numbers",
        "min_rtt_s, mean_rtt_s, p95_rtt_s": "round-trip times",
        "max_in_flight_bytes, mean_in_flight_bytes": "bytes in flight; the mean is over time",
    },
    "lightlag replay CAPTURE --json": {
        "capture": "file of the real run",
        "real, ours": "both senders: ends, handshakes, `path` (inferred), `lost` (by number), `episodes` of repair, "
        "`goodput_bps` and counts of each",
        "goodput_ratio": "our goodput over the real one",
        "same_packets": "packets up to the first that differs",
    },
    "lightlag orbit SCENARIO --json": {
        "satellites": "number of satellites",
        "links": "number of links between satellites",
        "start": "start of the scenario, UTC",
        "from, to": "stations of the path",
        "seconds": "seconds that were looked at",
        "rtt_ms": "round trip of light on the path: `min`, `mean` and `max` in ms",
        "hops": "links of the path: `min` and `max`",
        "changes": "path changes",
        "handovers_per_minute": "changes of the satellite that each end uses, by minute",
        "outage_s": "seconds without a path",
        "passes": "with `--station`: visible satellites, each with the times of its pass",
    },
}
"""Keys of each object, with their meanings. Several keys that share a meaning are separated by commas."""


def known(title: str) -> set[str]:
    """Returns the keys of an object that its page lists."""
    return {name for names in OBJECTS[title] for name in names.split(", ")}


def page() -> str:
    """Returns the page of all objects."""
    sections = []
    for title, keys in OBJECTS.items():
        rows = "\n".join(
            f"| {', '.join(f'`{name}`' for name in names.split(', '))} | {about[:1].upper()}{about[1:]}. |"
            for names, about in keys.items()
        )
        sections.append(f"## {title}\n\n| key | meaning |\n|---|---|\n{rows}\n")
    return "\n".join([HEAD, *sections])


HEAD = """\
# JSON

With `--json` a command prints one object on stdout and nothing else; notes, progress and errors go to stderr. Rows of
tables have the names of their [columns](../results.md), and groups of columns are objects in them; rows of comparisons
have [these](comparisons.md). A number that does not exist is null.
"""
