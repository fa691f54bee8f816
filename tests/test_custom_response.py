"""Custom loss responses."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pytest

import lightlag as ll
from lightlag.errors import AlgorithmError, InputError

Transport: TypeAlias = Literal["tcp", "quic"]
PROJECT = Path(__file__).parents[1]
SPIKE = {"python": f"{PROJECT}/examples/custom/spike.py:Spike"}
INTERFACE = PROJECT / "crates/lightlag-plugin"
RUST = """
use lightlag_plugin::{Ack, Loss, LossResponse, Parameter, Response, blame, export_loss_response, parameter};

#[derive(Clone, Copy)]
struct Guess {
    queue_ms: f64,
    probability: f64,
    acks: i64,
}

impl LossResponse for Guess {
    const NAME: &'static std::ffi::CStr = c"guess";
    const PARAMETERS: &'static [Parameter] = &[
        parameter!(response Guess, queue_ms, 0.0..=1e6, c"ms", c""),
        parameter!(response Guess, probability, 0.0..=1.0, c"", c""),
    ];
    const INITIAL: Self = Self { queue_ms: 10.0, probability: 0.2, acks: 0 };

    fn on_ack(&mut self, _response: &mut Response, _ack: &Ack) {
        self.acks += 1;
    }

    fn on_loss(&mut self, response: &mut Response, loss: &Loss) -> i64 {
        assert!(self.queue_ms != 13.0, "a panic");
        let short = ((loss.rtt_ns - loss.min_rtt_ns) as f64) < 1e6 * self.queue_ms;
        let guessed = (short && self.acks > 20) || response.uniform() < self.probability;
        if guessed { blame::CORRUPTION } else { blame::CONGESTION }
    }
}

export_loss_response!(Guess);
"""
C = """
#include "lightlag.h"

typedef struct { lightlag_response head; double queue_ms, probability; int64_t acks; } guess;

static double uniform(uint64_t *state) {
    uint64_t mixed = *state += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return (double)((mixed ^ (mixed >> 31)) >> 11) / 9007199254740992.0;
}

static void on_ack(void *own, const lightlag_ack *ack) { (void)ack; ((guess *)own)->acks++; }

static int64_t on_loss(void *own, const lightlag_loss *loss) {
    guess *self = own;
    int is_short = (double)(loss->rtt_ns - loss->min_rtt_ns) < 1e6 * self->queue_ms;
    return (is_short && self->acks > 20) || uniform(&self->head.random) < self->probability ? LIGHTLAG_CORRUPTION
                                                                                   : LIGHTLAG_CONGESTION;
}

static const guess initial = { { 0, 0 }, 10.0, 0.2, 0 };
static const lightlag_parameter parameters[] = {
    { "queue_ms", "ms", "", 16, LIGHTLAG_NUMBER, 0, 1e6 },
    { "probability", "", "", 24, LIGHTLAG_NUMBER, 0, 1 },
};
static const lightlag_response_table table = {
    LIGHTLAG_INTERFACE, sizeof(guess), "guess", "", &initial, parameters, 2, on_ack, on_loss,
};
const lightlag_response_table *lightlag_loss_response(void) { return &table; }
"""


class Guess(ll.LossResponse):
    """Attributes losses to corruption while the queue is short, and otherwise with a small probability."""

    queue_ms: float = ll.parameter(10.0, min=0.0, max=1e6, unit="ms")
    probability: float = ll.parameter(0.2, min=0.0, max=1.0)
    acks: int = ll.state(0)

    def on_ack(self, ack: Any) -> None:
        self.acks += 1

    def on_loss(self, loss: Any) -> int:
        short = loss.rtt_ns - loss.min_rtt_ns < 1e6 * self.queue_ms
        guessed = (short and self.acks > 20) or ll.uniform(self) < self.probability
        return ll.CORRUPTION if guessed else ll.CONGESTION


class Always(ll.LossResponse):
    """Attributes every loss to the same cause."""

    cause: int = ll.parameter(ll.CONGESTION, min=0, max=1)

    def on_loss(self, loss: Any) -> int:
        return self.cause


def run(
    response: Any,
    *,
    congestion: Any = "newreno",
    loss: float = 5e-3,
    transport: Transport = "tcp",
    **options: Any,
) -> ll.Result:
    net = ll.Network("pair", transport=transport)
    if transport == "quic":
        net.quic = ll.Quic(loss_assumption=response)
    else:
        net.tcp = ll.Tcp(loss_assumption=response)
    net.link("a", "b", rate="10 Mbit/s", delay="50 ms", queue="0.5 bdp", loss=loss)
    net.flow("a", "b", congestion=congestion)
    return ll.run(net, **({"duration": "20 s"} | options))


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The loss response ``Guess`` in C and in Rust."""
    folder = tmp_path_factory.mktemp("libraries")
    manifest = f"""
    [package]
    name = "guess"
    version = "0.1.0"
    edition = "2024"
    [lib]
    crate-type = ["cdylib"]
    [dependencies]
    lightlag-plugin = {{ path = "{INTERFACE}" }}
    [workspace]
    """
    (folder / "src").mkdir()
    (folder / "Cargo.toml").write_text(manifest)
    (folder / "src/lib.rs").write_text(RUST)
    (folder / "guess.c").write_text(C)
    subprocess.run(["cargo", "build", "--release", "--quiet", "--offline"], cwd=folder, check=True)
    c = ["cc", "-O2", "-shared", "-fPIC", "-I", str(INTERFACE / "include"), "-o", "libguess_c.so", "guess.c"]
    subprocess.run(c, cwd=folder, check=True)
    return {
        "rust": {"plugin": str(folder / "target/release/libguess.so")},
        "c": {"plugin": str(folder / "libguess_c.so")},
    }


@pytest.mark.parametrize("transport", ["tcp", "quic"])
@pytest.mark.parametrize("congestion", ["newreno", "cubic", "bbr", "bbr3", "jersey"])
def test_the_two_assumptions_written_as_responses_give_their_results(congestion: str, transport: Transport) -> None:
    options: dict[str, Any] = {"congestion": congestion, "transport": transport}
    hashes = [run(word, **options).result_hash for word in ("congestion", "corruption")]
    assert [run(Always(cause=cause), **options).result_hash for cause in (0, 1)] == hashes
    assert hashes[0] != hashes[1]


@pytest.mark.parametrize("transport", ["tcp", "quic"])
def test_four_forms_of_a_response_agree(libraries: dict[str, dict[str, Any]], transport: Transport) -> None:
    @ll.compiled
    class Compiled(Guess):
        queue_ms: float = ll.parameter(10.0, min=0.0, max=1e6, unit="ms")
        probability: float = ll.parameter(0.2, min=0.0, max=1.0)
        acks: int = ll.state(0)

    hashes = set()
    for parameters in ({}, {"queue_ms": 2.0, "probability": 0.7}):
        kinds = [Guess(**parameters), Compiled(**parameters), *(one | parameters for one in libraries.values())]
        same = {run(kind, transport=transport).result_hash for kind in kinds}
        assert len(same) == 1
        hashes |= same
    assert len(hashes) == 2


@pytest.mark.parametrize("transport", ["tcp", "quic"])
def test_short_queues_keep_the_window_for_link_errors_and_long_ones_reduce_it(transport: Transport) -> None:
    @ll.compiled
    class Short(ll.LossResponse):
        def on_loss(self, loss: Any) -> int:
            return ll.CORRUPTION if loss.rtt_ns - loss.min_rtt_ns < 20_000_000 else ll.CONGESTION

    lossy, short = run("congestion", transport=transport), run(Short, transport=transport)
    assert short.flows["goodput_bps"][0] > 3.0 * lossy.flows["goodput_bps"][0]
    # Without errors all losses are the queue's, when it is full: 50 ms.
    clean = run(Short, loss=0.0, transport=transport, duration="60 s")
    alone = run("congestion", loss=0.0, transport=transport, duration="60 s")
    assert clean.flows["goodput_bps"][0] == pytest.approx(alone.flows["goodput_bps"][0], rel=0.05)
    assert clean.flows["retransmitted_segments"][0] < 2.0 * alone.flows["retransmitted_segments"][0]


def test_spike_keeps_the_window_for_link_errors_and_reduces_it_for_queue_overflows() -> None:
    lossy, spike = run("congestion"), run(SPIKE)
    assert spike.flows["goodput_bps"][0] > 3.0 * lossy.flows["goodput_bps"][0]
    # Without errors all losses are the queue's, and nearly all lie in a spike.
    clean, alone = run(SPIKE, loss=0.0, duration="60 s"), run("congestion", loss=0.0, duration="60 s")
    assert clean.flows["goodput_bps"][0] == pytest.approx(alone.flows["goodput_bps"][0], rel=0.05)
    assert clean.flows["retransmitted_segments"][0] < 2.0 * alone.flows["retransmitted_segments"][0]


@pytest.mark.parametrize("transport", ["tcp", "quic"])
def test_a_loss_has_its_facts(transport: Transport) -> None:
    seen: list[Any] = []

    class Looks(ll.LossResponse):
        def on_loss(self, loss: Any) -> int:
            seen.append(loss)
            return ll.CONGESTION

    result = run(Looks, transport=transport)
    # One call for each episode; QUIC also reports persistent congestion.
    assert len(seen) >= result.flows["recoveries"][0] > 5
    assert {loss.cause for loss in seen} <= {ll.LOSS, ll.TIMEOUT}
    for loss in seen:
        assert 0 < loss.sent_ns < loss.now_ns
        # A segment of 1,500 bytes at 10 Mbit/s, and the path.
        assert 100_000_000 <= loss.min_rtt_ns <= loss.rtt_ns
        assert loss.cwnd > 0
        assert loss.inflight >= 0
    assert "cause" in repr(seen[0])


def test_with_quic_one_episode_is_one_call_and_corruption_leaves_the_window() -> None:
    calls: list[Any] = []

    class Counts(ll.LossResponse):
        def on_loss(self, loss: Any) -> int:
            calls.append(loss)
            return ll.CORRUPTION

    quic = ll.Quic(loss_assumption=Counts, pacing=False)
    net = ll.Network("burst", transport="quic", quic=quic, record=ll.Record(trace="change"))
    net.link("a", "b", rate="10 Mbit/s", delay="50 ms", loss={"forward": {"packets": [300, 302, 304, 900]}})
    net.flow("a", "b", transfer="2 MB", congestion="newreno")
    result = ll.run(net, duration="20 s")
    assert len(calls) == 2
    assert {loss.cause for loss in calls} == {ll.LOSS}
    assert result.flows["retransmitted_segments"][0] == 4
    assert result.flows["recoveries"][0] == 0
    windows = result.trace("cwnd")["cwnd_segments"].to_list()
    assert windows == sorted(windows)


def test_with_quic_a_mark_overrides_a_response() -> None:
    def marked(response: Any) -> ll.Result:
        net = ll.Network("marks", transport="quic", quic=ll.Quic(ecn="ect0", loss_assumption=response))
        queue = {"discipline": "codel", "ecn": True}
        net.link("a", "b", rate="10 Mbit/s", delay="50 ms", queue=queue, loss=5e-3)
        net.flow("a", "b", congestion="newreno")
        return ll.run(net, duration="20 s")

    ours = marked(Always(cause=ll.CORRUPTION))
    assert ours.result_hash == marked("corruption").result_hash != marked("congestion").result_hash
    assert ours.links["marked"].sum() > 0


def test_a_mark_overrides_a_response() -> None:
    net = ll.Network("marks", tcp=ll.Tcp(ecn="classic", loss_assumption=Always(cause=ll.CORRUPTION)))
    net.link("a", "b", rate="10 Mbit/s", delay="50 ms", queue={"discipline": "codel", "ecn": True}, loss=5e-3)
    net.flow("a", "b", congestion="newreno")
    ours = ll.run(net, duration="20 s")
    net.tcp = ll.Tcp(ecn="classic", loss_assumption="corruption")
    assert ll.run(net, duration="20 s").result_hash == ours.result_hash
    assert ours.links["marked"].sum() > 0


@pytest.mark.parametrize("transport", ["tcp", "quic"])
def test_random_numbers_and_the_digest_come_from_the_run(transport: Transport) -> None:
    one = run(Guess, transport=transport, verify=True)
    other = run(Guess, transport=transport, seed=2)
    assert run(Guess, transport=transport).result_hash == one.result_hash != other.result_hash
    defaults = run(Guess(probability=0.5), transport=transport).summary["scenario"]["defaults"]
    table = defaults[transport]["loss_assumption"]
    assert (table["response"], table["probability"], len(table["code"])) == ("guess", 0.5, 32)
    with pytest.raises(ll.ScenarioError, match="the code of guess was 0000 and is now"):
        run(table | {"code": "0000"}, transport=transport)


def test_each_flow_may_have_its_own() -> None:
    net = ll.Network("two")
    net.link("a", "b", rate="10 Mbit/s", delay="20 ms", loss=0.01)
    net.flow("a", "b", tcp=ll.Tcp(loss_assumption=SPIKE))
    net.flow("a", "b")
    goodput = ll.run(net, duration="20 s").flows["goodput_bps"].to_list()
    assert goodput[0] > 1.5 * goodput[1]


class Bad(ll.LossResponse):
    """Fails in the way that its parameter selects."""

    how: int = 0

    def on_ack(self, ack: Any) -> None:
        if self.how == 3 and ack.now_ns > 5_000_000_000:
            raise ValueError("no more ACKs")

    def on_loss(self, loss: Any) -> Any:
        return [1 / 0 if self.how == 0 else 0, 7, "corruption", 0][self.how]


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        (0, "ZeroDivisionError"),
        (1, "returned 7; it must be 0 for congestion or 1 for corruption"),
        (2, "returned 'corruption'; it must be 0"),
        (3, "on_ack: .*ValueError: no more ACKs"),
    ],
)
@pytest.mark.parametrize("transport", ["tcp", "quic"])
def test_a_failure_ends_the_run_and_names_flow_time_and_losses(how: int, reason: str, transport: Transport) -> None:
    with pytest.raises(AlgorithmError, match=f"(?s){reason}") as failed:
        run(Bad(how=how), transport=transport)
    told = str(failed.value)
    assert told.startswith("flow a->b, at ")
    assert "The last losses of this connection:" in told
    assert failed.value.result is not None
    assert failed.value.result.interrupted


def test_a_panic_of_a_library_ends_the_run(libraries: dict[str, dict[str, Any]]) -> None:
    with pytest.raises(AlgorithmError, match="guess: on_loss: failed with the code 1"):
        run(libraries["rust"] | {"queue_ms": 13.0})


@pytest.mark.parametrize(
    ("response", "message"),
    [
        ("corupption", '"corupption" is not known; did you mean "corruption"'),
        (3, "3 is not"),
        ({}, "names no loss response, such as"),
        ({"python": "nowhere.py:Mine"}, "nowhere.py"),
        ({"python": f"{PROJECT}/examples/custom/codel.py:CoDel"}, "codel is a queue discipline, not a loss response"),
        ({"plugin": "nowhere.so"}, "nowhere.so: cannot be read"),
        (SPIKE | {"plugin": "a.so"}, "plugin and python both name a loss response; remove one"),
        (SPIKE | {"enter": 2.0}, "enter: 2 is not a number from 0 to 1"),
        (SPIKE | {"entry": 0.5}, '"entry" is not a key here; did you mean "enter"'),
    ],
)
@pytest.mark.parametrize("transport", ["tcp", "quic"])
def test_a_bad_response_is_one_clear_error(response: Any, message: str, transport: Transport) -> None:
    with pytest.raises(ll.ScenarioError, match=message):
        run(response, transport=transport)


def test_bad_classes_are_rejected() -> None:
    class Nothing(ll.LossResponse):
        pass

    class Corruption(Always):
        pass

    @ll.compiled
    class Text(ll.LossResponse):
        def on_loss(self, loss: Any) -> Any:
            return 0.5

    for cls, message in [
        (Nothing, r"Nothing: has no method on_loss\(self, loss\)"),
        (Corruption, '"corruption" is the name of a built-in assumption'),
        (Text, "Text.on_loss: returns float64; it must return ll.CONGESTION or ll.CORRUPTION"),
    ]:
        with pytest.raises(InputError, match=message):
            ll.register(cls)
