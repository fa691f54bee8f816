"""Custom traffic."""

from __future__ import annotations

import statistics
import subprocess
from pathlib import Path
from typing import Any

import pytest

import lightlag as ll
from lightlag.errors import AlgorithmError, InputError

PROJECT = Path(__file__).parents[1]
VIDEO = {"python": f"{PROJECT}/examples/custom/video.py:Video"}
INTERFACE = PROJECT / "crates/lightlag-plugin"
RUST = """
use lightlag_plugin::{Parameter, Sent, Source, Traffic, export_traffic, parameter};

#[derive(Clone, Copy)]
struct Chatter {
    mean_ms: f64,
    messages: i64,
}

impl Traffic for Chatter {
    const NAME: &'static std::ffi::CStr = c"chatter";
    const PARAMETERS: &'static [Parameter] = &[
        parameter!(traffic Chatter, mean_ms, 0.1..=1e6, c"ms", c""),
        parameter!(traffic Chatter, messages, whole 0..=1_000_000, c"", c""),
    ];
    const INITIAL: Self = Self { mean_ms: 50.0, messages: 100 };

    fn next_message(&mut self, source: &mut Source, sent: &Sent) {
        assert!(self.messages != 13, "a panic");
        source.wait_ns = (2e6 * self.mean_ms * source.uniform()) as i64;
        source.size = if sent.messages < self.messages { 100 + 10 * sent.messages } else { 0 };
    }
}

export_traffic!(Chatter);
"""
C = """
#include "lightlag.h"

typedef struct { lightlag_source source; double mean_ms; int64_t messages; } chatter;

static double uniform(uint64_t *state) {
    uint64_t mixed = *state += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return (double)((mixed ^ (mixed >> 31)) >> 11) / 9007199254740992.0;
}

static void next_message(void *own, const lightlag_sent *sent) {
    chatter *self = own;
    self->source.wait_ns = (int64_t)(2e6 * self->mean_ms * uniform(&self->source.random));
    self->source.size = sent->messages < self->messages ? 100 + 10 * sent->messages : 0;
}

static const chatter initial = { { 0, 0, 0, 0 }, 50.0, 100 };
static const lightlag_parameter parameters[] = {
    { "mean_ms", "ms", "", 32, LIGHTLAG_NUMBER, 0.1, 1e6 },
    { "messages", "", "", 40, LIGHTLAG_WHOLE, 0, 1e6 },
};
static const lightlag_traffic_table table = {
    LIGHTLAG_INTERFACE, sizeof(chatter), "chatter", "", &initial, parameters, 2, next_message,
};
const lightlag_traffic_table *lightlag_traffic(void) { return &table; }
"""


class Chatter(ll.Traffic):
    """Sends a given number of messages of growing size at random times."""

    mean_ms: float = ll.parameter(50.0, min=0.1, max=1e6, unit="ms")
    messages: int = ll.parameter(100, min=0, max=1_000_000)

    def next_message(self, sent: Any) -> None:
        self.wait_ns = int(2e6 * self.mean_ms * ll.uniform(self))
        self.size = 100 + 10 * sent.messages if sent.messages < self.messages else 0


class Regular(ll.Traffic):
    """Sends messages like the engine's ``periodic``."""

    def next_message(self, sent: Any) -> None:
        self.wait_ns, self.size = (100_000_000 if sent.messages else 0), 700


def pair(traffic: Any, transport: Any = "tcp", **link: Any) -> ll.Network:
    net = ll.Network("pair")
    net.link("a", "b", rate="5 Mbit/s", delay="20 ms", **link)
    net.flow("a", "b", traffic=traffic, transport=transport)
    net.flow("a", "b")
    return net


def run(traffic: Any, transport: str = "tcp", **options: Any) -> ll.Result:
    link = {key: options.pop(key) for key in ("loss",) if key in options}
    return ll.run(pair(traffic, transport, **link), **({"duration": "10 s"} | options))


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The traffic ``Chatter`` in C and in Rust."""
    folder = tmp_path_factory.mktemp("libraries")
    manifest = f"""
    [package]
    name = "chatter"
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
    (folder / "chatter.c").write_text(C)
    subprocess.run(["cargo", "build", "--release", "--quiet", "--offline"], cwd=folder, check=True)
    c = ["cc", "-O2", "-shared", "-fPIC", "-I", str(INTERFACE / "include"), "-o", "libchatter_c.so", "chatter.c"]
    subprocess.run(c, cwd=folder, check=True)
    return {
        "rust": {"plugin": str(folder / "target/release/libchatter.so")},
        "c": {"plugin": str(folder / "libchatter_c.so")},
    }


@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_reimplemented_traffic_of_the_engine_gives_the_same_results(transport: str) -> None:
    theirs = run({"kind": "periodic", "size": "700 B", "every": "100 ms"}, transport, loss=0.01)
    assert run(Regular, transport, loss=0.01).result_hash == theirs.result_hash
    stopped = run({"kind": "periodic", "size": "700 B", "every": "100 ms", "stop": "4 s"}, transport)
    ll.register(Regular)
    assert run({"kind": "regular", "stop": "4 s"}, transport).result_hash == stopped.result_hash


@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_four_forms_of_traffic_agree(transport: str, libraries: dict[str, dict[str, Any]]) -> None:
    @ll.compiled
    class Compiled(Chatter):
        mean_ms: float = ll.parameter(50.0, min=0.1, max=1e6, unit="ms")
        messages: int = ll.parameter(100, min=0, max=1_000_000)

    for parameters in ({}, {"mean_ms": 20.0, "messages": 300}):
        kinds = [Chatter(**parameters), Compiled(**parameters), *(one | parameters for one in libraries.values())]
        hashes = [run(kind, transport, loss=0.01).result_hash for kind in kinds]
        assert hashes == [hashes[0]] * 4


def test_a_flow_that_marks_its_last_message_completes_when_it_has_arrived() -> None:
    flow = run(Chatter(mean_ms=10.0, messages=50)).flows.row(0, named=True)
    size = sum(100 + 10 * message for message in range(50))
    assert flow["delivered_bytes"] == size
    assert 0.3 < flow["finish_s"] < 1.5
    cut = pair(Chatter(mean_ms=1.0, messages=1000))
    cut.flow("a", "b", traffic=Chatter(mean_ms=1.0, messages=1000), transfer="20 kB")
    assert ll.run(cut, duration="10 s").flows["delivered_bytes"][2] == 20_000
    nothing = run(Chatter(messages=0)).flows.row(0, named=True)
    assert (nothing["delivered_bytes"], nothing["failure"]) == (0, None)


def test_the_example_has_its_mean_rate() -> None:
    sizes: list[int] = []

    def mean(seed: int) -> float:
        net = ll.Network("video")
        net.link("a", "b", rate="50 Mbit/s", delay="5 ms")
        net.flow("a", "b", traffic=VIDEO | {"deviation": 0.5}, transport="udp")
        result = ll.run(net, duration="40.02 s", seed=seed)
        sizes.append(result.flows["delivered_bytes"][0])
        return sizes[-1] / 1001

    # 84 key frames of 30 kB and 917 others of 6 kB; lognormal: the standard error of the mean of 8 runs is about 0.6 %.
    expected = (84 * 30_000 + 917 * 6_000) / 1001
    assert statistics.mean(mean(seed) for seed in range(8)) == pytest.approx(expected, rel=0.025)
    assert len(set(sizes)) == 8


def test_random_numbers_and_the_digest_come_from_the_run() -> None:
    one = run(Chatter, verify=True)
    assert run(Chatter).result_hash == one.result_hash != run(Chatter, seed=2).result_hash
    table = run(Chatter(mean_ms=20.0)).summary["scenario"]["flows"][0]["traffic"]
    assert (table["kind"], table["mean_ms"], len(table["code"])) == ("chatter", 20.0, 32)
    with pytest.raises(ll.ScenarioError, match="the code of chatter was 0000 and is now"):
        run(table | {"code": "0000"})


class Bad(ll.Traffic):
    """Fails in the way that its parameter selects."""

    how: int = 0

    def next_message(self, sent: Any) -> None:
        self.wait_ns, self.size = 10_000_000, 100
        if sent.messages < 3:
            return
        if self.how == 0:
            raise ValueError("enough")
        if self.how == 1:
            self.wait_ns = -5
        if self.how == 2:
            self.size = 20_000_000
        if self.how == 3:
            self.size = "much"  # type: ignore[assignment]


@pytest.mark.parametrize("transport", ["tcp", "udp"])
@pytest.mark.parametrize(
    ("how", "reason"),
    [(0, "ValueError: enough"), (1, "left wait_ns at -5; it must be 0 or more"), (3, "TypeError")],
)
def test_a_failure_ends_the_run_and_names_flow_time_and_progress(transport: str, how: int, reason: str) -> None:
    with pytest.raises(AlgorithmError, match=reason) as failed:
        run(Bad(how=how), transport)
    told = str(failed.value)
    assert told.startswith("flow a->b, at 0.030000 s: bad: next_message:")
    assert "It was called after 3 messages of 300 B." in told
    assert failed.value.result is not None
    assert failed.value.result.interrupted


def test_messages_of_udp_have_a_largest() -> None:
    with pytest.raises(AlgorithmError, match="left size at 20000000; it must be from 0, for the end, to 10000000"):
        run(Bad(how=2), "udp")
    assert run(Bad(how=2)).flows["delivered_bytes"][0] > 0


def test_a_panic_of_a_library_ends_the_run(libraries: dict[str, dict[str, Any]]) -> None:
    with pytest.raises(AlgorithmError, match="chatter: next_message: failed with the code 1"):
        run(libraries["rust"] | {"messages": 13})


@pytest.mark.parametrize(
    ("traffic", "message"),
    [
        ({"kind": "chater"}, "bulk"),
        ({"python": "nowhere.py:Mine"}, "nowhere.py"),
        ({"python": f"{PROJECT}/examples/custom/codel.py:CoDel"}, "codel is a queue discipline, not a traffic source"),
        ({"plugin": "nowhere.so"}, "nowhere.so: cannot be read"),
        (VIDEO | {"kind": "bulk"}, "kind and python both name a kind of traffic; remove one"),
        (VIDEO | {"group": 0}, "group: 0 is not a whole number from 1 to 1000"),
        (VIDEO | {"fps": 3}, '"fps" is not a key here; write one of frames_a_second, group'),
        (VIDEO | {"stop": "0 s"}, "0 s is the start of the run"),
    ],
)
def test_bad_traffic_is_one_clear_error(traffic: dict[str, Any], message: str) -> None:
    with pytest.raises(ll.ScenarioError, match=message):
        run(traffic)


def test_bad_classes_are_rejected() -> None:
    class Nothing(ll.Traffic):
        pass

    class Taken(ll.Traffic):
        stop: float = 1.0

        def next_message(self, sent: Any) -> None: ...

    class Bulk(Regular):
        pass

    for cls, message in [
        (Nothing, r"Nothing: has no method next_message\(self, sent\)"),
        (Taken, "Taken.stop: is a key of each traffic; give the parameter another name"),
        (Bulk, "'bulk'|\"bulk\" is the name of a built-in kind of traffic"),
    ]:
        with pytest.raises(InputError, match=message):
            ll.register(cls)
