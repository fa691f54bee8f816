"""Study files, and the options of the commands that take one."""

# The calls are wrong on purpose, and texts of files are clearer on one line.
# mypy: ignore-errors
# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Iterator

import lightlag as ll
from bad_inputs.case import Case
from lightlag.scenario import toml

GOOD = {"scenarios": ["pair.toml"], "congestion": ["cubic"], "replications": 2}
SOBOL = {"design": "sobol", "count": 4, "ranges": {"links.0.loss": [0, 0.1]}}
KEYS: dict[str, tuple[object, ...]] = {
    "name": (5, "", "a/b", ".a", "a\x00b", ["x"]),
    "scenarios": (5, [], [5], {"duration": 1}, [["geo"]]),
    "congestion": (5, [5], [""], ["cubik"], [{}], [{"algorithm": 5}], {"a": 5}, ["cubic", "cubic"]),
    "replications": (0, -1, 1.5, "3", True, [], 10**18),
    "seed": (-1, 1.5, "x", True, [], 2**63),
    "vary": (5, "loss", [1], {"links.0.loss": 5}, {"links.0.loss": []}, {"links.9.loss": [0]}, {"carrot": [1, 2]}),
    "set": (5, "x", [1], {"links.9.loss": 0}, {"links.0.loss": 7}, {"carrot": 1}, {"links.0.loss": []}),
    "axes": (5, "x", {"a": 1}, [5], [{}], [{"key": "links.0.loss"}], [{"key": 5, "values": [1]}]),
    "exclude": (5, [5], [{"rate": 3}], [{}], ["x"]),
    "metrics": (5, ["speed"], [5], "goodput"),
    "curves": (5, "yes", []),
    "budget": (5, {"time": 3}, {"wall": "30"}, {"runs": -1}, {"runs": "x"}, {"wall": "-5 s"}),
    "until": (5, "x", {}, {"within": 2}, {"within": "-5 %"}, {"within": "2 %", "min_seeds": "x"}, {"within": "2 %", "max_seeds": 0}),
    "carrots": (1,),
    "replicatoins": (3,),
}  # fmt: skip
SPACES: dict[str, tuple[object, ...]] = {
    "count": (0, -4, 1.5, "4", 100, 10**9),
    "seed": (-1, "x", 1.5),
    "ranges": (5, {}, {"links.0.loss": 5}, {"links.0.loss": [0]}, {"links.0.loss": [1, 0]}, {"links.0.loss": ["a", "b"]}),
    "design": ("halton", 5, ""),
    "carrot": (1,),
}  # fmt: skip


PLACES = {"congestion": "", "set": "", "vary": "", "scenarios": ""}
"""Keys whose mistakes are named by the place in the scenario, or by the value."""


def studies() -> Iterator[Case]:
    for key, values in KEYS.items():
        for value in values:
            changes = {"replications": None, key: value} if key == "until" else {key: value}
            yield _case(f"{key}={value!r:.50}", changes, PLACES.get(key, key))
    for key, values in SPACES.items():
        for value in values:
            yield _case(f"axes[0].{key}={value!r:.50}", {"axes": [SOBOL | {key: value}]}, key)
    for key in GOOD:
        if key == "scenarios":
            yield _case(f"no {key}", {key: None}, key)
    for text in ("", "a = [", "\x00", "scenarios", 'scenarios = "geo"\nscenarios = "leo"\n'):
        yield Case(f"text {text!r}", ("study", "run", "study.toml", "-q"), files=(("study.toml", text),), parts=("study.toml",))  # fmt: skip
    yield from _commands()
    yield from _calls()


def _case(name: str, changes: dict[str, object], *parts: str) -> Case:
    table = {key: value for key, value in (GOOD | changes).items() if value is not None}
    files = (("study.toml", toml.document(table)),)
    # Mistakes in a scenario and in a point of it are named by these.
    return Case(name, ("study", "run", "study.toml", "-q"), files=files, parts=parts)


def _commands() -> Iterator[Case]:
    good = (("study.toml", toml.document(GOOD)),)

    def case(*arguments: str, parts: tuple[str, ...] = (), usage: bool = False) -> Case:
        arguments = (*arguments, "-q") if arguments[0] in ("run", "resume") else arguments
        return Case(" ".join(arguments), ("study", *arguments), files=good, parts=parts, usage=usage)

    for shard in ("0/3", "4/3", "3", "a/b", "1/0", "-1/3", "", "1/3/5", "1.5/3"):
        yield case("run", "study.toml", f"--shard={shard}", parts=("--shard",))
    for cluster in ("moon", "", "local:0", "local:x", "tcp://", "slurm", "pbs", "local:-1"):
        yield case("run", "study.toml", f"--cluster={cluster}")
    for name in ("nowhere.toml", "."):
        yield case("run", "study.toml", "--cluster", "slurm", "--profile", name, parts=(name,))
    yield case("run", "study.toml", "--profile", "x", parts=("profile",))
    yield case("run", "study.toml", "--jobs", "2", "--processes", "2", parts=("cannot be combined",))
    for command in ("run", "status", "resume", "export"):
        yield case(command, "nowhere.toml", parts=("nowhere.toml",))
        yield case(command, ".", parts=("directory",))
        yield case(command, "pair.toml", parts=("pair.toml",))
        for store in ("gopher://x/y", "pair.toml", ""):
            yield case(command, "study.toml", "--store", store, parts=(store,) if store else ())
        yield case(command, usage=True)
        yield case(command, "study.toml", "--carrot", usage=True)
    for command in ("status", "resume", "export"):
        yield case(command, "study.toml", parts=("store",))
        yield case(command, "study.toml", "--store", "none", parts=("none", "store"))
    for number in ("0", "-1", "x", "1.5"):
        yield case("run", "study.toml", "--jobs", number, parts=("--jobs",), usage=True)
        yield case("run", "study.toml", "--processes", number, parts=("--processes",), usage=True)
        yield case("add", "study.toml", "-n", number, usage=True)
    for change in (("-c", "cubik"), ("--vary", "links.9.loss=1"), ("--vary", "loss"), ("--scenario", "none"), ("-n", "1"), ("-c", "cubic")):  # fmt: skip
        yield case("add", "study.toml", *change)
    yield case("add", "study.toml")
    yield case("merge", "none", "--into", "all", parts=("none",))
    yield case("merge", "pair.toml", "--into", "all", parts=("pair.toml",))
    yield case("merge", "none", usage=True)
    yield case("rerun", "study.toml", "abc", parts=("abc",))
    yield case("rerun", "study.toml", usage=True)
    yield case("export", "study.toml", "--figures", "pdf")
    yield case("nothing", usage=True)


def _calls() -> Iterator[Case]:
    def case(name: str, call: object, *parts: str) -> Case:
        return Case(name, call=call, parts=parts)

    for thing in (5, None, b"x", [], [5], {1}, object()):
        yield case(f"Study({thing!r:.12})", lambda t=thing: ll.Study(t, congestion=["cubic"]).plan())
    for path in ("nowhere", ".", "pair.toml"):
        yield case(f"open_study({path})", lambda p=path: ll.open_study(p), path)
        yield case(f"Study.read({path})", lambda p=path: ll.Study.read(p), path)
    for key, value in (("jobs", 0), ("jobs", "x"), ("processes", 0), ("processes", 1.5), ("cluster", 5)):
        yield case(f"run({key}={value!r})", lambda k=key, v=value: _study().run("out", progress=False, **{k: v}), key)


def _study() -> ll.Study:
    return ll.Study("pair.toml", congestion=["cubic"], replications=1)
