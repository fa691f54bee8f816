"""Runs in batches: nothing is lost between them, and the result equals an uninterrupted run's."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import lightlag as ll

PAIR: dict[str, Any] = {
    "duration": "20 s",
    "links": [{"between": ["a", "b"], "rate": "2 Mbit/s", "delay": "50 ms", "queue": "10 packets", "loss": 1e-3}],
    "flows": [{"from": "a", "to": "b", "transfer": "1 MB"}],
    "record": {"trace": "change", "drops": True, "acks": True, "interval": "100 ms"},
}


@pytest.mark.parametrize("every", ["70 ms", 1, "1 min"])
def test_batches_together_are_the_tables_of_the_result(every: float | str) -> None:
    live = ll.stream(PAIR, every, seed=3)
    batches = list(live)
    assert live.result.result_hash == ll.run(PAIR, seed=3).result_hash
    assert not live.result.interrupted
    for name in ("trace", "queue", "acks"):
        pieces = [getattr(batch, name) for batch in batches]
        assert pl.concat(pieces).equals(live.result.table(name)), name
    times = [batch.time_s for batch in batches]
    assert times == sorted(times)
    assert times[-1] == live.result.simulated_s
    drops = pl.concat([batch.drops for batch in batches]).sort("time_s")
    assert drops.equals(live.result.drops.sort("time_s"))


def test_a_stream_waits_and_can_be_ended() -> None:
    live = ll.stream(PAIR, "1 s")
    with pytest.raises(ll.InputError, match="has not ended"):
        _ = live.result
    first = next(iter(live))
    assert first.time_s == 1
    assert first.trace["time_s"].max() <= 1  # type: ignore[operator]
    second = next(iter(live))
    assert second.time_s == 2
    assert second.trace["time_s"].min() > 1  # type: ignore[operator]
    result = live.stop()
    assert result.interrupted
    assert result.simulated_s == 2
    assert list(live) == []
    assert live.result is result


def test_acks_are_there_if_they_are_recorded() -> None:
    quiet = PAIR | {"record": {"trace": "off"}}
    assert next(iter(ll.stream(quiet))).acks is None


@pytest.mark.parametrize(
    ("every", "message"),
    [
        (0, "every: 0 is not above zero"),
        (-1.0, "every: -1.0 is not above zero"),
        (float("nan"), "every: nan is not above zero"),
        ("soon", "every: 'soon' is not a valid time"),
        (None, "every: None is not a valid time"),
    ],
)
def test_the_time_of_a_batch_is_checked(every: Any, message: str) -> None:
    with pytest.raises(ll.InputError, match=message):
        ll.stream(PAIR, every)


def test_captures_are_left_to_run() -> None:
    with pytest.raises(ll.InputError, match=r"record\.pcap: cannot be combined with a stream"):
        ll.stream(PAIR, sets={"record.pcap": "{}"})
