"""Custom queue disciplines."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import lightlag as ll
from lightlag.emulation.emulator import Device, emulate
from lightlag.errors import AlgorithmError, InputError

PROJECT = Path(__file__).parents[1]
EXAMPLES = PROJECT / "examples/custom"
CODEL = {"python": f"{EXAMPLES}/codel.py:CoDel"}
INTERFACE = PROJECT / "crates/lightlag-plugin"
RUST = """
use lightlag_plugin::{Packet, Parameter, Queue, QueueDiscipline, export_queue_discipline, parameter, verdict};

#[derive(Clone, Copy)]
struct Beyond {
    threshold: i64,
    drop_not_ect: i64,
}

impl QueueDiscipline for Beyond {
    const NAME: &'static std::ffi::CStr = c"beyond";
    const PARAMETERS: &'static [Parameter] = &[
        parameter!(queue Beyond, threshold, whole 1..=1000, c"packets", c""),
        parameter!(queue Beyond, drop_not_ect, flag, c""),
    ];
    const INITIAL: Self = Self { threshold: 10, drop_not_ect: 0 };

    fn on_enqueue(&mut self, queue: &mut Queue, packet: &Packet) -> i64 {
        assert!(packet.now_ns < 9_000_000_000, "a panic at 9 s");
        let beyond = queue.packets + 1 > self.threshold && (packet.ecn != 0 || self.drop_not_ect != 0);
        if beyond { verdict::MARK } else { verdict::PASS }
    }
}

export_queue_discipline!(Beyond);
"""


class Beyond(ll.QueueDiscipline):
    """Marks packets that exceed a threshold, like the engine's ``step``."""

    threshold: int = ll.parameter(10, min=1, max=1000, unit="packets")
    drop_not_ect: bool = ll.parameter(False)

    def on_enqueue(self, packet: Any) -> int:
        if self.packets + 1 > self.threshold and (packet.ecn or self.drop_not_ect):
            return ll.MARK
        return ll.PASS


@pytest.fixture
def cc(tmp_path: Path) -> Any:
    """Compiles CoDel in C with changes of its text, and returns its table in a scenario."""
    count = 0

    def build(*changes: tuple[str, str]) -> dict[str, str]:
        nonlocal count
        count += 1
        text = (EXAMPLES / "c/codel.c").read_text()
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        source, library = tmp_path / f"codel{count}.c", tmp_path / f"libcodel{count}.so"
        source.write_text(text)
        flags = ["-O2", "-shared", "-fPIC", "-I", str(INTERFACE / "include")]
        subprocess.run(["cc", *flags, "-o", str(library), str(source), "-lm"], check=True)
        return {"plugin": str(library)}

    return build


@pytest.fixture
def compiled_codel(tmp_path: Path) -> dict[str, str]:
    """The example in Python with the decorator before its class and its functions."""
    text = (EXAMPLES / "codel.py").read_text()
    text = text.replace("\nclass CoDel", "\n@ll.compiled\nclass CoDel").replace("\ndef ", "\n@ll.compiled\ndef ")
    (tmp_path / "codel_compiled.py").write_text(text)
    return {"python": f"{tmp_path}/codel_compiled.py:CoDel"}


def pair(queue: Any = None, ecn: Any = "off", **link: Any) -> ll.Network:
    net = ll.Network("pair", tcp=ll.Tcp(ecn=ecn))
    net.link("a", "b", rate="5 Mbit/s", delay="20 ms", queue=queue, **link)
    net.flow("a", "b", congestion="newreno")
    net.flow("a", "b", congestion="cubic")
    net.flow("b", "a", congestion="newreno")
    return net


def hash_of(net: ll.Network, **changes: Any) -> str:
    return ll.run(net, **({"duration": "20 s"} | changes)).result_hash


@pytest.mark.parametrize("ecn", ["off", "classic"])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (CODEL | {"ecn": True}, {"discipline": "codel", "ecn": True}),
        (CODEL, {"discipline": "codel"}),
        (
            CODEL | {"interval_ms": 40.0, "limit": "30 kB"},
            {"discipline": "codel", "interval": "40 ms", "limit": "30 kB"},
        ),
        (Beyond, {"discipline": "step", "threshold": "10 packets"}),
        (
            {"discipline": Beyond(threshold=20, drop_not_ect=True), "limit": "25 packets"},
            {"discipline": "step", "threshold": "20 packets", "drop_not_ect": True, "limit": "25 packets"},
        ),
    ],
)
def test_a_reimplemented_discipline_of_the_engine_gives_the_same_results(ours: Any, theirs: Any, ecn: str) -> None:
    result = ll.run(pair(ours, ecn), duration="20 s")
    assert result.result_hash == hash_of(pair(theirs, ecn))
    acts = result.links["dropped_aqm"].to_list() + result.links["marked"].to_list()
    assert any(acts) or (ours is Beyond and ecn == "off")


SCENES: list[tuple[str, dict[str, Any]]] = [
    ("geo", {"links.1.rate": "4 Mbit/s", "defaults.tcp.ecn": "classic"}),
    ("geo", {"links.1.loss": 0.001}),
    ("dumbbell", {"topology.pairs": 3}),
    ("leo", {}),
]


@pytest.mark.parametrize(
    ("scene", "sets"), [SCENES[0], *(pytest.param(*one, marks=pytest.mark.long) for one in SCENES[1:])]
)
def test_four_forms_of_codel_agree(scene: str, sets: dict[str, Any], cc: Any, compiled_codel: dict[str, str]) -> None:
    place = "topology.queue" if scene == "dumbbell" else "links.1.queue"

    def hash_of(queue: dict[str, Any]) -> str:
        return ll.run(scene, sets=sets | {place: queue | {"ecn": True}}, duration="8 s").result_hash

    hashes = [hash_of(queue) for queue in ({"discipline": "codel"}, CODEL, compiled_codel, cc())]
    assert hashes == [hashes[0]] * 4


def test_rust_does_what_python_does(tmp_path: Path) -> None:
    manifest = f"""
    [package]
    name = "beyond"
    version = "0.1.0"
    edition = "2024"
    [lib]
    crate-type = ["cdylib"]
    [dependencies]
    lightlag-plugin = {{ path = "{INTERFACE}" }}
    [workspace]
    """
    (tmp_path / "src").mkdir()
    (tmp_path / "Cargo.toml").write_text(manifest)
    (tmp_path / "src/lib.rs").write_text(RUST)
    subprocess.run(["cargo", "build", "--release", "--quiet", "--offline"], cwd=tmp_path, check=True)
    library = {"plugin": str(tmp_path / "target/release/libbeyond.so"), "threshold": 20, "drop_not_ect": True}
    ours = hash_of(pair(Beyond(threshold=20, drop_not_ect=True)), duration="8 s")
    assert hash_of(pair(library), duration="8 s") == ours
    with pytest.raises(AlgorithmError, match="beyond: on_enqueue: failed with the code 1"):
        ll.run(pair(library), duration="10 s")


@pytest.mark.parametrize(
    "link",
    [
        {"loss": 0.01},
        {"changes": [{"at": "5 s", "rate": "1 Mbit/s"}, {"at": "10 s", "rate": "8 Mbit/s"}]},
        {"reorder": True},
    ],
)
def test_codel_is_the_engines_on_links_that_change(link: dict[str, Any]) -> None:
    assert hash_of(pair(CODEL, **link)) == hash_of(pair({"discipline": "codel"}, **link))


def test_a_class_an_object_a_name_and_a_direction_name_a_discipline() -> None:
    ll.register(Beyond)
    queues = [
        Beyond,
        Beyond(threshold=10),
        {"discipline": "beyond"},
        {"discipline": Beyond},
        ll.Directions(Beyond, Beyond),
    ]
    hashes = {hash_of(pair(queue, "classic")) for queue in queues}
    assert len(hashes) == 1
    assert hash_of(pair(ll.Directions(Beyond(threshold=5), "1000 packets"), "classic")) not in hashes


def test_the_scenario_holds_the_digest_of_the_code() -> None:
    result = ll.run(pair(Beyond(threshold=20)), duration="1 s")
    table = result.summary["scenario"]["links"][0]["queue"]
    assert (table["discipline"], table["threshold"], len(table["code"])) == ("beyond", 20.0, 32)
    assert ll.run(pair(table), duration="1 s").result_hash == result.result_hash
    with pytest.raises(ll.ScenarioError, match="the code of beyond was 0000 and is now"):
        ll.run(pair(table | {"code": "0000"}), duration="1 s")


def test_the_key_of_a_run_depends_on_the_code_and_on_no_path(tmp_path: Path) -> None:
    from lightlag.outcomes.plan import make

    def keys(file: Path) -> list[str]:
        net = ll.Network("one")
        net.link("a", "b", rate="5 Mbit/s", delay="20 ms", queue={"python": f"{file}:CoDel"})
        net.flow("a", "b")
        plan = make(net, ["newreno"], (), 2, [])
        return [run.key for run in plan.runs()]

    one, other = tmp_path / "one/codel.py", tmp_path / "other/codel.py"
    for file in (one, other):
        file.parent.mkdir()
        shutil.copy(EXAMPLES / "codel.py", file)
    assert keys(one) == keys(other)
    other.write_text(other.read_text() + "# changed\n")
    assert keys(one) != keys(other)


def test_paths_start_at_the_directory_of_the_scenario(tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "codel.py", tmp_path / "mine.py")
    for queue in ('{ python = "mine.py:CoDel" }', '{ backward = "1 bdp", forward = { python = "mine.py:CoDel" } }'):
        scenario = f"""
        duration = "1 s"
        links = [{{ between = ["a", "b"], rate = "1 Mbit/s", delay = "10 ms", queue = {queue} }}]
        flows = [{{ from = "a", to = "b" }}]
        """
        (tmp_path / "scene.toml").write_text(scenario)
        assert ll.run(tmp_path / "scene.toml").flows["delivered_bytes"][0] > 0


def test_the_backlog_the_limit_and_the_rate_match_the_link() -> None:
    seen: list[tuple[str, Any]] = []

    class Looks(ll.QueueDiscipline):
        def on_enqueue(self, packet: Any) -> int:
            if not seen:
                seen.append(("first", (self.packets, self.bytes, packet.waited_ns, packet.size)))
                seen.append(("limits", (self.limit_packets, self.limit_bytes, self.rate)))
            if packet.full:
                seen.append(("full", (self.packets, packet.carries_payload)))
            return ll.PASS

        def on_dequeue(self, packet: Any) -> int:
            seen.append(("rate", self.rate))
            return ll.PASS

    changes = [{"at": "5 s", "rate": "1 Mbit/s"}]
    net = pair(ll.Directions({"discipline": Looks, "limit": "20 packets"}, "1 bdp"), changes=changes)
    result = ll.run(net, duration="10 s")
    told = dict(reversed(seen))
    assert told["first"] == (0, 0, 0, 60)
    assert told["limits"] == (20.0, math.inf, 625_000.0)
    assert told["full"] == (20, True)
    assert {rate for word, rate in seen if word == "rate"} == {625_000.0, 125_000.0}
    assert sum(word == "full" for word, _ in seen) == result.links["dropped_queue"][0]
    in_bytes = {"discipline": Looks, "limit": "30 kB"}
    seen.clear()
    ll.run(pair(ll.Directions(in_bytes, "1 bdp")), duration="1 s")
    assert dict(seen)["limits"] == (math.inf, 30_000.0, 625_000.0)


def test_random_numbers_come_from_the_run() -> None:
    class Draws(ll.QueueDiscipline):
        def on_enqueue(self, packet: Any) -> int:
            return ll.DROP if packet.carries_payload and ll.uniform(self) < 0.01 else ll.PASS

    def drops(**changes: Any) -> list[int]:
        return ll.run(pair(Draws), duration="20 s", **changes).links["dropped_aqm"].to_list()

    one = drops(verify=True)
    assert all(one)
    assert drops() == one != drops(seed=2)


def test_an_exception_ends_the_run_and_keeps_its_records() -> None:
    class Fails(ll.QueueDiscipline):
        def on_dequeue(self, packet: Any) -> int:
            if packet.now_ns > 3_000_000_000:
                raise ValueError("enough")
            return ll.PASS

    with pytest.raises(AlgorithmError) as failed:
        ll.run(pair(ll.Directions("1 bdp", Fails)), duration="30 s")
    message = str(failed.value)
    assert message.startswith("link b->a, at 3.0")
    for part in (
        "fails: on_dequeue: Traceback",
        "test_custom_queue.py",
        "ValueError: enough",
        "The last packets of this queue:",
        "waited",
        "carries_payload",
    ):
        assert part in message
    assert failed.value.result is not None
    assert failed.value.result.interrupted
    assert failed.value.result.flows["delivered_bytes"][0] > 0
    with pytest.raises(AlgorithmError, match="enough"):
        list(ll.stream(pair(Fails), duration="30 s"))


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (2, "returned 2; it must be 0 to let the packet pass, 1 to drop it or 3 to mark it"),
        (-1, "returned -1; it must be 0"),
        (None, "returned None; it must be 0"),
        (math.nan, "returned nan; it must be 0"),
        ("drop", "returned 'drop'; it must be 0"),
    ],
)
def test_absurd_answers_are_named(answer: Any, what: str) -> None:
    class Absurd(ll.QueueDiscipline):
        def on_enqueue(self, packet: Any) -> Any:
            return answer

    with pytest.raises(AlgorithmError, match=rf"link a->b, at 0.0\d+ s: absurd: on_enqueue: {what}"):
        ll.run(pair(Absurd), duration="1 s")


def test_compiled_code_fails_as_well() -> None:
    @ll.compiled
    class Wrong(ll.QueueDiscipline):
        def on_enqueue(self, packet: Any) -> int:
            return 2

    @ll.compiled
    class Raises(ll.QueueDiscipline):
        def on_enqueue(self, packet: Any) -> int:
            if packet.now_ns > 0:
                raise ValueError("no")
            return ll.PASS

    with pytest.raises(AlgorithmError, match="wrong: on_enqueue: returned 2; it must be 0"):
        ll.run(pair(Wrong), duration="1 s")
    with pytest.raises(AlgorithmError, match=rf"raises: on_enqueue: an exception in {re.escape(__file__)}:\d+"):
        ll.run(pair(Raises), duration="1 s")


def test_compiled_classes_draw_the_same_random_numbers() -> None:
    def drops(decorate: Any) -> str:
        class Draws(ll.QueueDiscipline):
            hits: int = ll.state(0)

            def on_enqueue(self, packet: Any) -> int:
                if packet.carries_payload and ll.uniform(self) < 0.01:
                    self.hits += 1
                    return ll.DROP
                return ll.PASS

        return hash_of(pair(decorate(Draws)))

    assert drops(ll.compiled) == drops(lambda cls: cls)


class _Text(Beyond):
    word: str = "a"


class _Neither(ll.QueueDiscipline):
    pass


class _Taken(Beyond):
    name = "codel"


class _Limit(Beyond):
    limit: int = ll.parameter(3)


class _Control(ll.CongestionControl):
    def on_ack(self, ack: Any) -> None: ...

    def on_congestion(self, event: Any) -> None: ...


@ll.compiled
class _Silent(ll.QueueDiscipline):
    def on_enqueue(self, packet: Any) -> None: ...


@ll.compiled
class _Fraction(ll.QueueDiscipline):
    def on_enqueue(self, packet: Any) -> float:
        return 1.5


class _Init(Beyond):
    def __init__(self, **_: Any) -> None:
        raise ValueError("not today")


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (_Text, "_Text.word: 'str' is not float, int or bool|_Text.word: str is not float, int or bool"),
        (_Neither, "_Neither: has neither a method on_enqueue"),
        (_Taken, '_Taken: "codel" is the name of a built-in queue discipline; choose another'),
        (_Limit, "_Limit.limit: is a key of each queue; give the parameter another name"),
        (_Silent, "_Silent.on_enqueue: returns none; it must return ll.PASS, ll.DROP or ll.MARK"),
        (_Fraction, "_Fraction.on_enqueue: returns float64; it must return"),
        (ll.QueueDiscipline, "is not a subclass of one of lightlag.CongestionControl, lightlag.QueueDiscipline"),
        (Beyond(threshold=0), "threshold: 0 is not a whole number from 1 to 1000"),
        ({"discipline": "beyond", "treshold": 3}, '"treshold" is not a key here; did you mean "threshold"'),
        ({"discipline": "beyon"}, 'did you mean "beyond"'),
        ({"discipline": "beyond", "python": "a.py:A"}, "discipline and python both name a discipline; remove one"),
        ({"python": 3}, "python: 3 is not"),
        ({"python": "none.py:Mine"}, "none.py: cannot be read: No such file"),
        ({"plugin": "none.so"}, "none.so: cannot be read: No such file"),
        ({"python": f"{EXAMPLES}/codel.py:Mine"}, "has no class Mine"),
        ({"python": f"{EXAMPLES}/cubic.py:Cubic"}, "cubic is a congestion control, not a queue discipline"),
        (_Control, "_control"),
    ],
)
def test_errors_are_named(value: Any, what: str) -> None:
    ll.register(Beyond)
    with pytest.raises((InputError, ll.ScenarioError), match=what):
        ll.run(pair(value), duration="1 s")


def test_an_object_that_cannot_be_made_ends_the_run() -> None:
    with pytest.raises(AlgorithmError, match="not today"):
        ll.run(pair(_Init), duration="1 s")


def test_real_packets_are_rejected() -> None:
    refused = pytest.raises(InputError, match="the queue discipline beyond is custom and cannot serve real packets")
    with refused, emulate(pair(Beyond), (Device("q0"), Device("q1"))):
        pass


def test_a_queue_discipline_is_not_a_congestion_control() -> None:
    with pytest.raises(ll.ScenarioError, match="codel is a queue discipline, not a congestion control"):
        ll.run(pair(), duration="1 s", sets={"flows.0.congestion": CODEL})


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (".interface = LIGHTLAG_INTERFACE", ".interface = 7", "version 7 of the interface, but this lightlag has 1"),
        (".size = sizeof(codel)", ".size = 48", "has records of 48 B; the size must be a multiple of 8, from 56"),
        (".on_enqueue = on_enqueue,\n    .on_dequeue = on_dequeue,", "", "has neither a function on_enqueue nor"),
        ("offsetof(codel, ecn)", "48", "has the parameter ecn at byte 48"),
        ("lightlag_queue_discipline(", "another_name(", "has no function lightlag_queue_discipline"),
        ("{ return &table; }", "{ return NULL; }", "returns no table"),
    ],
)
def test_libraries_with_errors_are_named(old: str, new: str, what: str, cc: Any) -> None:
    with pytest.raises(ll.ScenarioError, match=what):
        ll.run(pair(cc((old, new))), duration="1 s")


def test_a_library_of_a_congestion_control_is_not_a_queue_discipline(cc: Any) -> None:
    with pytest.raises(ll.ScenarioError, match="has no function lightlag_congestion_control"):
        ll.run(pair(), duration="1 s", sets={"flows.0.congestion": cc()})
