"""Results folders that something has happened to."""

# The calls are wrong on purpose.
# mypy: ignore-errors
# ruff: noqa: E731

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl

import lightlag as ll
from bad_inputs.case import Case

HEAD = ("scenario", "seed", "version", "simulated_s", "wall_s", "packet_hops", "result_hash", "interrupted")
WRONG: tuple[object, ...] = (None, [], {}, float("nan"), [1], -1.5)


def damaged(kept: Path, compared: Path) -> Iterator[Case]:
    """Results folders that something has happened to."""
    about = json.loads((kept / "run.json").read_text())

    def case(name: str, change: Callable[[Path], object], *parts: str, of: Path = kept, command: str = "plot") -> Case:
        def prepare() -> None:
            folder = Path("bad")
            folder.mkdir()
            for path in of.iterdir():
                if path.is_file():
                    (folder / path.name).symlink_to(path)
            change(folder)

        return Case(name, (command, "bad"), prepare=prepare, parts=("bad", *parts))

    def replaced(name: str, content: bytes | str) -> Callable[[Path], object]:
        def change(folder: Path) -> None:
            (folder / name).unlink(missing_ok=True)
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())

        return change

    def table(name: str, make: Callable[[pl.DataFrame], pl.DataFrame]) -> Callable[[Path], object]:
        def change(folder: Path) -> None:
            frame = make(pl.read_parquet(kept / f"{name}.parquet"))
            (folder / f"{name}.parquet").unlink()
            frame.write_parquet(folder / f"{name}.parquet")

        return change

    for key, wrong in itertools.product(HEAD, WRONG):
        text = json.dumps(about | {key: wrong})
        if not (key in ("simulated_s", "wall_s", "packet_hops") and wrong == -1.5):
            yield case(f"{key} {wrong}", replaced("run.json", text), key, "run.json")
    for key in HEAD:
        yield case(f"no {key}", replaced("run.json", json.dumps({k: v for k, v in about.items() if k != key})))
    for name, text in (
        ("empty", ""),
        ("null", "null"),
        ("list", "[]"),
        ("number", "7"),
        ("cut", '{"seed":'),
        ("deep", "[" * 9999),
    ):
        yield case(f"run.json {name}", replaced("run.json", text))
    yield case("run.json bytes", replaced("run.json", b"\xff\xfe"), "run.json")
    yield case("run.json gone", lambda folder: (folder / "run.json").unlink(), "run.json")
    shown = ("flows", "links", "trace", "queue")
    metrics = {"flows": "sequence", "links": "queue", "trace": "cwnd", "queue": "queue"}
    for name in ("trace", "queue", "flows", "links"):
        loader = Case("", ("plot", "bad", "-m", metrics[name])) if name in ("trace", "queue") else None
        for other in shown:
            if other != name:
                content = (kept / f"{other}.parquet").read_bytes()
                yield _load(case(f"{name} is {other}", replaced(f"{name}.parquet", content), f"{name}.parquet"), name)
        for label, content in (
            ("empty", b""),
            ("text", b"PAR1 no PAR1"),
            ("cut", (kept / f"{name}.parquet").read_bytes()[:200]),
        ):
            yield _load(case(f"{name} {label}", replaced(f"{name}.parquet", content), f"{name}.parquet"), name)
        yield _load(case(f"{name} gone", lambda folder, name=name: (folder / f"{name}.parquet").unlink(), name), name)
        frame = pl.read_parquet(kept / f"{name}.parquet")
        assert loader is None or loader.arguments
        for column, kind in frame.schema.items():
            yield _load(case(f"{name} without {column}", table(name, lambda t, c=column: t.drop(c)), column), name)
            other_kind = pl.Float32 if kind == pl.String else pl.String
            retype = lambda t, c=column, k=other_kind: t.with_columns(pl.lit(None).cast(k).alias(c))
            yield _load(case(f"{name}.{column} of another type", table(name, retype), column), name)
            if kind.is_float():
                for value in (float("nan"), float("inf")):
                    hurt = lambda t, c=column, v=value: t.with_columns(pl.lit(v).alias(c))
                    yield _load(case(f"{name}.{column} {value}", table(name, hurt), column, "finite"), name)
    design = json.loads((compared / "run.json").read_text())
    lines = (compared / "curves.jsonl").read_text()
    for key, wrong in itertools.product(
        ("competitors", "variables", "seed", "replications", "scenario"), (None, "x", [7], {}, -1)
    ):
        if key == "variables" and wrong == {}:
            continue
        text = json.dumps(design | {"design": design["design"] | {key: wrong}})
        yield case(f"design {key} {wrong}", replaced("run.json", text), "comparison", of=compared)
    entry = json.loads(lines.splitlines()[0])
    for key, wrong in itertools.product(entry["outcome"], ("x", [None], {"a": 1}, float("nan"), True)):
        if key == "jain" and wrong != wrong:
            # Flows that delivered nothing have no index.
            continue
        text = wrong == "x" and key in ("congestion", "bottleneck", "result_hash")
        changed = json.dumps(entry | {"outcome": entry["outcome"] | {key: wrong}})
        if not (text and key != "congestion"):
            yield case(f"outcome {key} {wrong}", replaced("curves.jsonl", changed + "\n"), "comparison", of=compared)
    for label, text in (("empty", ""), ("cut", lines[:100]), ("text", "x\n"), ("null", "null\n"), ("{}", "{}\n")):
        yield case(f"curves {label}", replaced("curves.jsonl", text), "comparison", of=compared)


def _load(case: Case, table: str) -> Case:
    """Read as a program reads it."""
    reads: Callable[[], object] = lambda: getattr(ll.load("bad"), "summary" if table in ("flows", "links") else table)
    if table == "trace":
        reads = lambda: ll.load("bad").trace("cwnd")
    return Case(case.name, call=reads, prepare=case.prepare, parts=case.parts)
