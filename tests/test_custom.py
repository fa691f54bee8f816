"""Custom congestion control: in Python, compiled, in Rust and in C."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

import lightlag as ll
from lightlag.errors import AlgorithmError, InputError

PROJECT = Path(__file__).parents[1]
EXAMPLES = PROJECT / "examples/custom"
HEADER = PROJECT / "crates/lightlag-plugin/include"
CUBIC = {"python": f"{EXAMPLES}/cubic.py:Cubic"}
BUILT_IN = {"algorithm": "cubic", "variant": "rfc9438"}


class Aimd(ll.CongestionControl):
    """Additive increase, multiplicative decrease."""

    beta: float = ll.parameter(0.5, min=0.1, max=0.9, meaning="What a loss keeps.")
    gentle: bool = ll.parameter(False)
    losses: int = ll.state(0)

    def on_ack(self, ack: Any) -> None:
        if ack.may_grow:
            self.cwnd += ack.growth if self.cwnd < self.ssthresh else ack.growth / self.cwnd

    def on_congestion(self, event: Any) -> None:
        self.losses += 1
        if event.cause != ll.REPEATED_TIMEOUT:
            self.ssthresh = max(2.0, (0.9 if self.gentle else self.beta) * event.flight / self.segment_size)
        self.cwnd = 1.0 if event.cause in (ll.TIMEOUT, ll.REPEATED_TIMEOUT) else self.ssthresh


@ll.compiled
class AimdCompiled(ll.CongestionControl):
    """The compiled version of :class:`Aimd`."""

    beta: float = ll.parameter(0.5, min=0.1, max=0.9)
    gentle: bool = ll.parameter(False)
    losses: int = ll.state(0)

    on_ack = Aimd.on_ack

    def on_congestion(self, event: Any) -> None:
        self.losses += 1
        if event.cause != ll.REPEATED_TIMEOUT:
            self.ssthresh = max(2.0, (0.9 if self.gentle else self.beta) * event.flight / self.segment_size)
        timeout = event.cause == ll.TIMEOUT or event.cause == ll.REPEATED_TIMEOUT
        self.cwnd = 1.0 if timeout else self.ssthresh


def pair(congestion: Any = None, loss: float = 0.0, transfer: str | None = "200 kB") -> ll.Network:
    net = ll.Network("pair")
    net.link("a", "b", rate="5 Mbit/s", delay="40 ms", loss=loss)
    net.flow("a", "b", transfer=transfer, congestion=congestion)
    return net


@pytest.fixture(scope="module")
def rust(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    target = tmp_path_factory.mktemp("target")
    command = ["cargo", "build", "--release", "--quiet", "--target-dir", str(target)]
    subprocess.run(command, cwd=EXAMPLES / "rust", check=True)
    return {"plugin": str(target / "release/libcubic.so")}


@pytest.fixture
def cc(tmp_path: Path) -> Any:
    """Compiles the C example with changes of its text, and returns its table in a scenario."""
    count = 0

    def build(*changes: tuple[str, str]) -> dict[str, str]:
        nonlocal count
        count += 1
        text = (EXAMPLES / "c/aimd.c").read_text()
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / f"aimd{count}.c").write_text(text)
        library = tmp_path / f"libaimd{count}.so"
        flags = ["-O2", "-shared", "-fPIC", "-I", str(HEADER)]
        subprocess.run(["cc", *flags, "-o", str(library), str(tmp_path / f"aimd{count}.c")], check=True)
        return {"plugin": str(library)}

    return build


@pytest.fixture
def compiled_cubic(tmp_path: Path) -> dict[str, str]:
    """The example in Python with the decorator before its class and its functions."""
    text = (EXAMPLES / "cubic.py").read_text()
    text = text.replace("\nclass Cubic", "\n@ll.compiled\nclass Cubic").replace("\ndef ", "\n@ll.compiled\ndef ")
    (tmp_path / "cubic_compiled.py").write_text(text)
    return {"python": f"{tmp_path}/cubic_compiled.py:Cubic"}


SCENES = [
    ("geo", {"duration": "60 s"}),
    ("scenarios/lossy.toml", {"duration": "60 s"}),
    ("leo", {"duration": "60 s"}),
    ("dumbbell", {"duration": "30 s"}),
    # Losses, timeouts, idle times and marks.
    ("geo", {"duration": "60 s", "links.1.loss": 0.01, "seed": 7}),
    ("scenarios/lossy.toml", {"duration": "60 s", "defaults.tcp.profile": "rfc", "seed": 3}),
    ("geo", {"duration": "60 s", "links.1.queue": {"discipline": "codel"}, "defaults.tcp.ecn": "classic"}),
]


@pytest.mark.parametrize(
    ("scene", "sets"), [SCENES[0], *(pytest.param(*one, marks=pytest.mark.long) for one in SCENES[1:])]
)
def test_four_forms_of_cubic_agree(
    scene: str, sets: dict[str, Any], rust: dict[str, str], compiled_cubic: dict[str, str]
) -> None:
    def hash_of(choice: dict[str, str]) -> str:
        place = str(PROJECT / scene) if scene.endswith(".toml") else scene
        return ll.run(place, sets=sets, congestion=choice).result_hash

    hashes = [hash_of(choice) for choice in (BUILT_IN, CUBIC, compiled_cubic, rust)]
    assert hashes == [hashes[0]] * 4


def test_compiled_methods_do_what_the_interpreter_does() -> None:
    def hash_of(choice: Any) -> str:
        return ll.run(pair(choice, loss=0.01, transfer=None), duration="60 s").result_hash

    one, other = hash_of({"algorithm": ll.register(Aimd, "same"), "beta": 0.7}), None
    other = hash_of({"algorithm": ll.register(AimdCompiled, "same"), "beta": 0.7})
    assert one == other
    assert hash_of({"algorithm": "same", "gentle": True}) != other


def test_c_does_what_python_does(cc: Any) -> None:
    ours = ll.run(pair(Aimd, loss=0.01, transfer=None), duration="60 s")
    theirs = ll.run(pair(cc(), loss=0.01, transfer=None), duration="60 s")
    assert ours.result_hash == theirs.result_hash


def test_a_class_an_object_a_name_and_a_mapping_name_an_algorithm() -> None:
    by_class = ll.run(pair(Aimd), duration="30 s")
    by_object = ll.run(pair(Aimd(beta=0.5)), duration="30 s")
    by_default = ll.run(pair(), duration="30 s", congestion=Aimd)
    assert by_class.result_hash == by_object.result_hash == by_default.result_hash
    by_mapping = ll.run(pair("mine"), duration="30 s", congestion={"mine": Aimd})
    assert by_mapping.flows["congestion"].to_list() == ["mine"]
    by_name = ll.run(pair({"algorithm": "aimd", "beta": 0.9}, loss=0.02), duration="30 s")
    assert by_name.result_hash == ll.run(pair(Aimd(beta=0.9), loss=0.02), duration="30 s").result_hash
    assert by_name.result_hash != ll.run(pair(Aimd, loss=0.02), duration="30 s").result_hash


def test_the_scenario_holds_the_digest_of_the_code() -> None:
    result = ll.run(pair(Aimd), duration="1 s")
    table = result.summary["scenario"]["flows"][0]["tcp"]["congestion"]
    assert table["algorithm"] == "aimd"
    assert len(table["code"]) == 32
    with pytest.raises(ll.ScenarioError, match="the code of aimd was 0000 and is now"):
        ll.run(pair(table | {"code": "0000"}), duration="1 s")


def test_compare_and_a_study_take_them(tmp_path: Path) -> None:
    sides: list[Any] = [Aimd, Aimd(beta=0.9), "newreno", {"python": f"{EXAMPLES}/cubic.py:Cubic", "beta": 0.8}]
    comparison = ll.compare(pair(loss=0.01), sides, replications=2, duration="30 s")
    labels = comparison.runs["congestion"].unique(maintain_order=True).to_list()
    assert labels == ["aimd", "aimd (beta=0.9)", "newreno", "Cubic (beta=0.8)"]
    command = [sys.executable, "-m", "lightlag", "compare", "geo", "-n", "2", "-s", 'duration="5 s"', "-q", "--json"]
    command += ["-c", f"newreno,{EXAMPLES}/cubic.py:Cubic", "--figures", "none", "-o", str(tmp_path / "out")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert '"Cubic"' in done.stdout


def test_random_numbers_come_from_the_run() -> None:
    def draws(decorate: Any) -> ll.Result:
        class Draws(ll.CongestionControl):
            name = "draws"

            def on_ack(self, ack: Any) -> None:
                self.cwnd = 2.0 + 8.0 * ll.uniform(self)

            def on_congestion(self, event: Any) -> None:
                self.cwnd = self.ssthresh = 2.0

        return ll.run(pair(decorate(Draws)), duration="30 s", verify=True)

    plain, compiled = draws(lambda cls: cls), draws(ll.compiled)
    assert plain.result_hash == compiled.result_hash
    other = ll.run(pair("draws"), duration="30 s", seed=2)
    assert other.trace("cwnd")["cwnd_segments"].to_list() != plain.trace("cwnd")["cwnd_segments"].to_list()


def test_libm_matches_the_engine_for_both_kinds() -> None:
    # Values of the crate libm; the system's cbrt may differ in the last bit.
    assert [ll.libm.cbrt(8.0), ll.libm.pow(2.0, 0.5), ll.libm.exp(0.0)] == [2.0, 2.0**0.5, 1.0]
    for name in ll.libm.__all__:
        assert getattr(ll.libm, name).__doc__


def test_an_exception_ends_the_run_and_keeps_its_records() -> None:
    class Fails(Aimd):
        def on_ack(self, ack: Any) -> None:
            if ack.now_ns > 300_000_000:
                raise ValueError("enough")
            super().on_ack(ack)

    with pytest.raises(AlgorithmError) as failed:
        ll.run(pair(Fails), duration="30 s")
    message = str(failed.value)
    assert message.startswith("flow a->b, at 0.3")
    for part in (
        "fails: on_ack: Traceback",
        "test_custom.py",
        'raise ValueError("enough")',
        "ValueError: enough",
        "inflight",
    ):
        assert part in message
    assert failed.value.result is not None
    assert failed.value.result.interrupted
    assert failed.value.result.flows["delivered_bytes"][0] > 0
    with pytest.raises(AlgorithmError, match="fails, seed 1, flow a->b, at"):
        ll.compare(pair(), [Fails, "cubic"], replications=1, duration="30 s")
    with pytest.raises(AlgorithmError, match="enough"):
        list(ll.stream(pair(Fails), duration="30 s"))


@pytest.mark.parametrize(
    ("field", "value", "what"),
    [
        ("cwnd", float("nan"), "left cwnd = NaN; it must be segments above 0"),
        ("cwnd", 0.0, "left cwnd = 0;"),
        ("cwnd", -3.0, "left cwnd = -3;"),
        ("cwnd", 1e300, "left cwnd = 1000"),
        ("ssthresh", float("nan"), "left ssthresh = NaN"),
        ("pacing_rate", -1.0, "left pacing_rate = -1; it must be bytes per second"),
        ("cwnd", "many", "TypeError: must be real number, not str"),
        ("nothing.there", 1, "AttributeError"),
    ],
)
def test_absurd_answers_are_named(field: str, value: Any, what: str) -> None:
    class Absurd(Aimd):
        def on_ack(self, ack: Any) -> None:
            place = self
            *outer, name = field.split(".")
            for part in outer:
                place = getattr(place, part)
            setattr(place, name, value)

    with pytest.raises(AlgorithmError) as failed:
        ll.run(pair(Absurd), duration="30 s")
    assert what in str(failed.value)


def test_compiled_code_fails_as_well() -> None:
    @ll.compiled
    class Negative(Aimd):
        def on_ack(self, ack: Any) -> None:
            self.cwnd = -1.0

    @ll.compiled
    class Raises(Aimd):
        def on_ack(self, ack: Any) -> None:
            if ack.now_ns > 0:
                raise ValueError("no")

    with pytest.raises(AlgorithmError, match="negative: on_ack: left cwnd = -1"):
        ll.run(pair(Negative), duration="30 s")
    with pytest.raises(AlgorithmError, match=rf"raises: on_ack: an exception in {re.escape(__file__)}:\d+"):
        ll.run(pair(Raises), duration="30 s")


OVERFLOWS = {
    "add": "self.n = self.n + self.n",
    "add in place": "self.n += self.n",
    "subtract": "self.n = -5 - 3 * self.n",
    "multiply": "self.n *= 3",
    "shift": "self.n = self.n << 7",
    "power": "self.n = self.n ** 2",
    "fraction": "self.n = self.n ** -self.n",
    "negate": "self.n = -self.least",
    "divide": "self.n = self.least // -1",
    "absolute": "self.n = abs(self.least)",
    "int": "self.n = int(1e30 * self.cwnd)",
    "no number": "self.n = int(1e308 * self.cwnd * 1e308 * 0.0)",
    "round": "self.n = round(1e30 * self.cwnd)",
    "floor": "self.n = math.floor(1e30 * self.cwnd)",
    "field": "self.n = 1e30 * self.cwnd",
    "function": "self.n = tripled(self.n)",
    "division in a function": "self.cwnd += inverse(0.0)",
}


@pytest.mark.parametrize("statement", OVERFLOWS.values(), ids=OVERFLOWS)
def test_a_too_large_integer_of_compiled_code_is_an_error(tmp_path: Path, statement: str) -> None:
    (tmp_path / "mine.py").write_text(
        f"""import math
import lightlag as ll

@ll.compiled
def tripled(x):
    return x * 3

@ll.compiled
def inverse(x):
    return 1.0 / x

@ll.compiled
class Mine(ll.CongestionControl):
    n: int = ll.state(5)
    least: int = ll.state({-(2**63)})

    def on_ack(self, ack):
        {statement}
        self.cwnd += 1.0 / self.cwnd

    def on_congestion(self, event):
        self.cwnd = max(2.0, self.cwnd / 2)
        self.ssthresh = self.cwnd
"""
    )
    with pytest.raises(AlgorithmError, match=r"mine: on_ack: an exception in .*mine\.py:18, such as"):
        ll.run(ll.presets.geo(), congestion={"python": f"{tmp_path}/mine.py:Mine"}, duration="10 s")


def test_checked_numbers_of_compiled_code_match_python() -> None:
    def mixed(n: int, x: float) -> float:
        m = (n + 3) * (n - 7) - (n << 3) + n**3 - -n + abs(-n) + n // 3
        m -= 2
        y = x**2 + x**-1 + x**0.5 - -x * 1.5 + m * x - x // 0.3
        return float(y + int(x) + round(x) + math.floor(-x) + math.ceil(x))

    checked = ll.compiled(mixed)
    for n in (-5, -1, 0, 3, 40):
        for x in (0.3, 2.5, 1e6):
            assert checked(n, x) == mixed(n, x)


def test_a_clock_is_found_by_a_repetition() -> None:
    class Clock(Aimd):
        def on_ack(self, ack: Any) -> None:
            self.cwnd = 2.0 + time.perf_counter_ns() % 1000 / 100

    with pytest.raises(AlgorithmError, match="the run cannot be repeated") as failed:
        ll.run(pair(Clock), duration="30 s", verify=True)
    assert failed.value.result is not None


class _Text(Aimd):
    word: str = "a"


class _Range(Aimd):
    gain: float = ll.parameter(2.0, min=0.0, max=1.0)


class _NoMethod(ll.CongestionControl):
    def on_ack(self, ack: Any) -> None: ...


class _Taken(Aimd):
    name = "cubic"


class _Named(Aimd):
    name = "no name"


@ll.compiled
class _Uncompilable(Aimd):
    def on_ack(self, ack: Any) -> None:
        self.cwnd = {}  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (_Text, "_Text.word: 'str' is not float, int or bool|_Text.word: str is not float, int or bool"),
        (_Range, "_Range.gain: its default 2 is not from 0 to 1"),
        (_NoMethod, r"_NoMethod: has no method on_congestion\(self, event\)"),
        (_Taken, '_Taken: "cubic" is the name of an algorithm of lightlag, cubic; choose another'),
        (_Named, "_Named: name: 'no name' is not a valid name"),
        (_Uncompilable, "_Uncompilable.on_ack: numba cannot compile it"),
        (ll.CongestionControl, "is not a subclass of one of lightlag.CongestionControl"),
        (Aimd(beta=7.0), "beta: 7 is not a number from 0.1 to 0.9"),
        ({"algorithm": Aimd, "alpha": 1}, '"alpha" is not a key here'),
        ({"algorithm": "aimd", "plugin": "lib.so"}, "algorithm and plugin both name an algorithm"),
        ({"python": 3}, "python: 3 is not a name in quotes"),
        ({"python": "none.py:Mine"}, "none.py: cannot be read: No such file"),
        ({"python": "mine.py"}, "mine.py: is not a class in a file; write mine.py:Mine"),
        ({"python": f"{EXAMPLES}/cubic.py:Mine"}, "has no class Mine"),
        ({"plugin": "none.so"}, "none.so: cannot be read: No such file"),
        ({"plugin": f"{EXAMPLES}/cubic.py"}, "cubic.py: is not a valid library"),
        ({"plugin": f"{EXAMPLES}/cubic.py", "python": "a.py:A"}, "plugin and python both name an algorithm"),
    ],
)
def test_errors_are_named(value: Any, what: str) -> None:
    ll.register(Aimd)
    with pytest.raises((InputError, ll.ScenarioError), match=what):
        ll.run(pair(value), duration="1 s")


def test_files_with_errors_are_named(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import lightlag\n\nprint(missing)\n")
    with pytest.raises(ll.ScenarioError, match="line 3: NameError: name 'missing' is not defined"):
        ll.run(pair({"python": f"{broken}:Mine"}), duration="1 s")
    (tmp_path / "number.py").write_text("Mine = 3\n")
    with pytest.raises(ll.ScenarioError, match="3 is not a subclass"):
        ll.run(pair({"python": f"{tmp_path}/number.py:Mine"}), duration="1 s")


def test_an_edited_file_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Python's bytecode names the size and the second of its source, which are the same here.
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file = tmp_path / "mine.py"
    text = "import lightlag\n\n\nclass {}(lightlag.Traffic):\n    def next_message(self, sent):\n        pass\n"
    names = []
    for name in ("First", "Other"):
        file.write_text(text.format(name))
        os.utime(file, (1e9, 1e9))
        names.append(ll.custom.load(f"{file}:{name}").name)
    assert names == ["first", "other"]
    assert [path.name for path in tmp_path.iterdir()] == ["mine.py"]


@pytest.mark.parametrize("share", [0.01, 0.25, 0.5, 0.999])
def test_a_library_that_is_cut_off_is_rejected(share: float, cc: Any, tmp_path: Path) -> None:
    whole = Path(cc()["plugin"]).read_bytes()
    torn = tmp_path / "torn.so"
    torn.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ll.ScenarioError, match=r"torn\.so: is cut off after"):
        ll.run(pair({"plugin": str(torn)}), duration="1 s")


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (".interface = LIGHTLAG_INTERFACE", ".interface = 7", "version 7 of the interface, but this lightlag has 1"),
        (".size = sizeof(aimd)", ".size = 12", "has records of 12 B"),
        (".on_ack = on_ack,", "", "has no function on_ack"),
        ('.name = "aimd"', '.name = ""', 'has the invalid name ""'),
        ("offsetof(aimd, beta)", "800", "has the parameter beta at byte 800"),
        ("LIGHTLAG_NUMBER, 0.1", "9, 0.1", "parameter beta with the invalid type 9"),
        (".beta = 0.5", ".beta = 5", "the default 5, outside 0.1 to 0.99"),
        (".parameter_count = 1,", ".parameter_count = 1, .needs = 64,", "needs 0x40"),
        (".parameter_count = 1,", ".parameter_count = 1ull << 60,", "check parameter_count"),
        ("lightlag_congestion_control", "another_name", "has no function lightlag_congestion_control"),
        ("{ return &table; }", "{ return NULL; }", "returns no table"),
    ],
)
def test_libraries_with_errors_are_named(old: str, new: str, what: str, cc: Any) -> None:
    with pytest.raises(ll.ScenarioError, match=what):
        ll.run(pair(cc((old, new))), duration="1 s")


def test_a_library_that_has_changed_is_rejected(cc: Any) -> None:
    one, other = cc(), cc((".beta = 0.5", ".beta = 0.6"))
    ll.run(pair(one), duration="1 s")
    Path(one["plugin"]).unlink()
    shutil.copy(other["plugin"], one["plugin"])
    with pytest.raises(ll.ScenarioError, match="has changed since it was opened; restart Python"):
        ll.run(pair(one), duration="1 s")


def test_paths_start_at_the_directory_of_the_scenario(tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "cubic.py", tmp_path / "mine.py")
    scenario = """
    duration = "1 s"
    links = [{ between = ["a", "b"], rate = "1 Mbit/s", delay = "10 ms" }]
    flows = [{ from = "a", to = "b", congestion = { python = "mine.py:Cubic" } }]
    """
    (tmp_path / "scene.toml").write_text(scenario)
    assert ll.run(tmp_path / "scene.toml").flows["congestion"].to_list() == ["cubic"]


def test_the_key_of_a_run_depends_on_the_code_and_on_no_path(tmp_path: Path) -> None:
    from lightlag.outcomes.plan import make

    def keys(file: Path) -> list[str]:
        plan = make(pair(), [{"python": f"{file}:Cubic"}], (), 2, [])
        return [run.key for run in plan.runs()]

    one, other = tmp_path / "one/cubic.py", tmp_path / "other/cubic.py"
    for file in (one, other):
        file.parent.mkdir()
        shutil.copy(EXAMPLES / "cubic.py", file)
    assert keys(one) == keys(other)
    other.write_text(other.read_text() + "# changed\n")
    assert keys(one) != keys(other)


def test_a_study_runs_them_in_processes(tmp_path: Path) -> None:
    scene = {**pair(loss=0.01).scenario().to_dict(), "duration": "5 s"}
    study = ll.Study(scene, congestion=[CUBIC, "newreno"], replications=2)
    threads = study.run(tmp_path / "one", store=tmp_path / "store1", progress=False)
    processes = study.run(tmp_path / "two", store=tmp_path / "store2", processes=2, progress=False)
    assert threads.runs.collect().equals(processes.runs.collect())


@pytest.mark.parametrize("language", ["python", pytest.param("numba", marks=pytest.mark.long), "rust", "c"])
def test_a_new_algorithm_runs_and_passes_its_test(language: str, tmp_path: Path) -> None:
    def command(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=False)

    made = command("-m", "lightlag", "new", "congestion", "own_way", "--language", language)
    assert made.returncode == 0, made.stderr
    assert "now: python own_way/test_own_way.py" in made.stdout
    tried = command("own_way/test_own_way.py")
    assert tried.returncode == 0, tried.stderr
    assert (tmp_path / "own_way/cwnd.pdf").stat().st_size > 1000
    again = command("-m", "lightlag", "new", "congestion", "own_way")
    assert again.returncode == 2
    assert "exists already" in again.stderr


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["cubic"], '"cubic" is the name of an algorithm of lightlag'),
        (["Mine"], "'Mine' is not a valid name of an algorithm"),
        (["class"], "'class' is not a valid name of an algorithm"),
        (["../mine"], "'../mine' is not a valid name of an algorithm"),
        (["mine", "--language", "perl"], "--language: 'perl' is not one of python, numba, rust, c"),
    ],
)
def test_new_reports_errors(words: list[str], what: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "lightlag", "new", "congestion", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert what in done.stderr


def test_the_command_keeps_what_a_failed_run_recorded(tmp_path: Path) -> None:
    text = "import lightlag as ll\n\n\nclass Fails(ll.CongestionControl):\n    def on_ack(self, ack):\n"
    text += (
        "        if ack.now_ns > 3e9:\n            raise ValueError('enough')\n\n    def on_congestion(self, event):\n"
    )
    (tmp_path / "fails.py").write_text(text + "        self.cwnd = 2.0\n")
    command = [sys.executable, "-m", "lightlag", "run", "geo", "-c", "fails.py:Fails", "-o", "out"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "ValueError: enough" in done.stderr
    assert json.loads((tmp_path / "out/run.json").read_text())["interrupted"]


REPLACED = """
import sys
from pathlib import Path
import lightlag as ll

library = Path(sys.argv[1])
net = ll.Network("pair")
net.link("a", "b", rate="5 Mbit/s", delay="40 ms")
net.flow("a", "b", transfer="2 MB", congestion={"plugin": str(library)})
complete = ll.run(net).result_hash

def cut(*now):
    library.write_bytes(b"")

assert ll.run(net, progress=cut, interval_s=0.0).result_hash == complete
# A library that is left alone is found under its own name.
print("libaimd1.so" in Path("/proc/self/maps").read_text(), flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has files in memory")
def test_a_library_that_is_cut_off_while_it_runs_does_not_end_the_process(tmp_path: Path, cc: Any) -> None:
    library = cc()["plugin"]
    before = sorted(Path(tempfile.gettempdir()).glob("*aimd*"))
    done = subprocess.run([sys.executable, "-c", REPLACED, library], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    assert sorted(Path(tempfile.gettempdir()).glob("*aimd*")) == before
