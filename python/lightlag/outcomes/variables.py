"""Variables of a comparison: algorithms, keys of the scenario, complete scenarios; as text and in Python.

A variable is written ``KEY=V1,V2,...``, as ``links.1.loss=0,1e-4,1e-3``. Several keys joined by ``+`` take the same
value, and a label may precede them: ``PER: links.1.loss+links.2.loss=0,1e-3``. A candidate is the name of an algorithm,
its table, ``{ algorithm = "cubic", slow_start = "standard" }``, or several joined by ``/``, which are assigned to the
flows of a run in turn: ``cubic/bbr`` lets the two compete.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from lightlag import _engine
from lightlag.errors import InputError
from lightlag.scenario import Congestion, congestion_names, toml_value
from lightlag.scenario.plain import plain
from lightlag.text.terminal import printable

__all__ = [
    "Axis",
    "Competitor",
    "Competitors",
    "Variable",
    "Vary",
    "competitors",
    "file_of",
    "meaning",
    "name_of",
    "parameter_of",
    "quantity",
    "split",
    "split_parameters",
    "text_of",
    "variables",
]

Vary: TypeAlias = Mapping[str, Iterable[Any]] | Iterable[str]
"""Variables: a mapping ``{"links.1.loss": [0, 1e-3]}``, or texts such as ``"links.1.loss=0,1e-3"``."""
Competitors: TypeAlias = Sequence[Congestion] | Mapping[str, Congestion | Sequence[Congestion]]
"""Algorithms by name or table; a mapping labels them. A sequence under a label is assigned to the flows in turn."""

_TAKEN = {"congestion", "seed", "measure", "mean", "half_width", "identical", "runs", "flow", "timeouts", "result_hash"}
_TAKEN_NUMBERS = {"goodput_bps", "completion_s", "queueing_mean_s", "queueing_p95_s", "simulated_s", "min_rtt_s"}
CHOICE = "defaults.tcp.congestion"
"""The key that a candidate sets; the parameters of an algorithm are keys below it."""
RTT = "rtt"
"""The key of a variable that stands for the round trip of the path."""
_LAST_WORDS_ALONE_SAY_LITTLE = {
    "forward",
    "backward",
    "limit",
    "target",
    "interval",
    "mean",
    "burst",
    "at",
    "min",
    "max",
}
_BRACKETS = {"{": "}", "[": "]", "(": ")"}


def text_of(value: object) -> str:
    """Returns a value in the form that ``--set`` takes: text unchanged, everything else as TOML."""
    return value if isinstance(value, str) else toml_value(value)


def split(text: str, at: str, what: str) -> list[str]:
    """Splits a text at separators outside of quotes and brackets.

    Examples
    --------
    >>> split('cubic, { algorithm = "hybla", count = "acks" }', ",", "--congestion")
    ['cubic', '{ algorithm = "hybla", count = "acks" }']
    """
    parts, open_, quote = [""], [], ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in _BRACKETS:
            open_.append(_BRACKETS[character])
        elif open_ and character == open_[-1]:
            open_.pop()
        elif character == at and not open_:
            parts.append("")
            continue
        parts[-1] += character
    if quote or open_:
        raise InputError(f"{what}: {(quote or open_[-1])!r} is missing at the end of {text!r}")
    return [part.strip() for part in parts]


@dataclass(frozen=True, slots=True)
class Axis:
    """The values of a variable as positions on an axis."""

    places: tuple[float, ...]
    """The position of each value."""
    unit: str
    scale: str
    """``"linear"``, ``"log"``, or ``"equal"``: equal steps starting at 0, labelled with the values."""
    is_ordered: bool = True
    """Whether the values are quantities, so that intermediate values exist."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a comparison other than the algorithm."""

    label: str
    keys: tuple[str, ...]
    """Keys of the scenario; none for complete scenarios."""
    values: tuple[str, ...]
    """The values as text; for complete scenarios their names."""

    def changes(self, value: str) -> list[tuple[str, str]]:
        """Returns the changes to the scenario for a value.

        Not included are the round trip, which depends on the other values, and parameters of the algorithm, which the
        candidates set.
        """
        return [] if self.is_rtt else [(key, value) for key in self.keys if parameter_of(key) is None]

    def parameters(self, value: str) -> list[tuple[str, str]]:
        """Returns the parameters of the compared algorithms that a value changes: names and values."""
        return [(name, value) for key in self.keys if (name := parameter_of(key)) is not None]

    @property
    def is_rtt(self) -> bool:
        """Whether its values are the round trip of the path."""
        return self.keys == (RTT,)

    @property
    def numeric(self) -> tuple[str, tuple[float, ...]] | None:
        """The values as numbers, with a name that contains the unit, such as ``delay_s``.

        None for plain numbers, which need no unit, and for values that are not quantities of one kind.
        """
        quantities = [_quantity(value) for value in self.values]
        if not self.keys or not all(unit in _FACTORS for _, unit in quantities):
            return None
        kinds = {_FACTORS[unit][0] for _, unit in quantities}
        suffix = _UNITS.get(next(iter(kinds))) if len(kinds) == 1 else None
        if suffix is None:
            return None
        numbers = tuple(float(f"{number * _FACTORS[unit][1]:.15g}") for number, unit in quantities)
        return re.sub(r"[^A-Za-z0-9]+", "_", self.label).strip("_") + f"_{suffix}", numbers

    @property
    def is_number(self) -> bool:
        """Whether every value is a plain number."""
        return all(unit == "" for _, unit in map(_quantity, self.values))

    @property
    def plain(self) -> Sequence[float | str]:
        """The values of the text column: plain numbers as numbers, also in quotes; other values as they are written."""
        return [number for number, _ in map(_quantity, self.values)] if self.is_number else self.values

    @property
    def axis(self) -> Axis:
        """The axis of the values: linear for numbers, logarithmic if they span more than a decade."""
        numbers = [_quantity(value) for value in self.values]
        units = {unit for _, unit in numbers}
        if not units <= _FACTORS.keys() or len({_FACTORS[unit][0] for unit in units}) != 1:
            return Axis(tuple(map(float, range(len(self.values)))), "", "equal", is_ordered=False)
        unit = max(units, key=lambda unit: _FACTORS[unit][1])
        places = tuple(number * _FACTORS[own][1] / _FACTORS[unit][1] for number, own in numbers)
        least, most = min(places), max(places)
        if least > 0 and most / least >= 10:
            return Axis(places, unit, "log")
        # From 0 to values of several decades: steps of the axis would hide all but the largest.
        above = [place for place in places if place > 0]
        if least == 0 and len(above) > 1 and most / min(above) >= 10:
            return Axis(tuple(map(float, range(len(self.values)))), "", "equal")
        return Axis(places, unit, "linear")


_FACTORS: dict[str, tuple[str, float]] = {
    "": ("", 1.0),
    **{unit: ("time", 10.0**power) for unit, power in (("ns", -9), ("us", -6), ("µs", -6), ("ms", -3), ("s", 0))},
    "min": ("time", 60.0),
    "h": ("time", 3600.0),
    **{f"{prefix}bit/s": ("rate", 1000.0**at) for at, prefix in enumerate(("", "k", "M", "G", "T"))},
    **{f"{prefix}B": ("size", 1000.0**at) for at, prefix in enumerate(("", "k", "M", "G", "T"))},
    **{f"{prefix}B": ("size", 1024.0**at) for at, prefix in enumerate(("Ki", "Mi", "Gi"), start=1)},
    "packets": ("packets", 1.0),
    "bdp": ("bdp", 1.0),
    "km": ("length", 1.0),
    "deg": ("angle", 1.0),
    "dB": ("level", 1.0),
}
"""Units, each with the quantity that it measures and its factor to the base unit."""

_UNITS = {
    "time": "s",
    "rate": "bps",
    "size": "bytes",
    "packets": "packets",
    "bdp": "bdp",
    "length": "km",
    "angle": "deg",
    "level": "dB",
}
"""The base unit of each quantity, as in column names; the factors of the other units are relative to it."""


def _quantity(value: str) -> tuple[float, str]:
    """Returns a number and its unit.

    For values that are not a number, the unit is the text itself, which is in no table of units.
    """
    found = re.fullmatch(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\d\s]\S*)?", value.strip("\"'"))
    return (float(found[1]), found[2] or "") if found else (0.0, f"text {value}")


def quantity(text: str, unit: str | None) -> tuple[float | None, str]:
    """Returns the number of a text in the base unit, and its unit as written. Its quantity must be the one of `unit`.

    Plain numbers and percent are returned unchanged. The number is None if the text is not a number, or has a unit of
    another kind.

    Examples
    --------
    >>> quantity("5 ms", "s"), quantity("2 %", None), quantity("1 Mbit/s", "s")
    ((0.005, 'ms'), (2.0, '%'), (None, ''))
    """
    number, found = _quantity(text)
    if found in ("", "%"):
        return number, found
    if unit is None or found not in _FACTORS or _FACTORS[found][0] != _FACTORS[unit][0]:
        return None, ""
    return number * _FACTORS[found][1], found


def meaning(value: str) -> tuple[str, float] | str:
    """Returns a key that is the same for two texts of the same quantity; for other values it is the text itself.

    Examples
    --------
    >>> meaning("50 ms") == meaning("0.05 s"), meaning("0.001") == meaning("1e-3"), meaning("1 s") == meaning("1 B")
    (True, True, False)
    """
    number, unit = _quantity(value)
    if unit not in _FACTORS:
        return value
    kind, factor = _FACTORS[unit]
    return kind, float(f"{number * factor:.15g}")


def variables(vary: Vary) -> list[Variable]:
    """Returns the variables of ``vary``, each with a short label.

    Raises
    ------
    InputError
        If a variable has no key or no value, has a value or a key twice, or has a key that other arguments set.

    Examples
    --------
    >>> [variable.label for variable in variables(["links.1.loss=0,1e-3", "links.1.queue.limit=1 bdp,2 bdp"])]
    ['loss', 'queue limit']
    """
    given = [_listed(key, values) for key, values in vary.items()] if isinstance(vary, Mapping) else _texts(vary)
    found = []
    for text, values in given:
        label, keys = _labelled(text)
        _check(text, keys, values)
        found.append((label, keys, tuple(values)))
    names = [key for _, keys, _ in found for key in keys]
    if repeated := [name for at, name in enumerate(names) if name in names[:at]]:
        raise InputError(f'"{repeated[0]}" varies twice; name each key once')
    labels = _labels([(label, keys) for label, keys, _ in found])
    made = [Variable(label, keys, values) for label, (_, keys, values) in zip(labels, found, strict=True)]
    taken = _TAKEN_NUMBERS | set(labels)
    for variable in made:
        column = variable.numeric and variable.numeric[0]
        if column in taken:
            raise InputError(
                f'"{variable.label}" would give a column {column}, which exists already; write another label, as '
                f"NAME: {'+'.join(variable.keys)}=..."
            )
        taken |= {column} if column else set()
    return made


def _listed(key: Any, values: Any) -> tuple[str, list[str]]:
    """Checks a key and its values that were given in Python; returns them as text."""
    if not isinstance(key, str):
        raise InputError(f"vary: {printable(repr(key)):.60} is not a key of a scenario; write one such as links.1.loss")
    is_array = hasattr(values, "dtype") and getattr(values, "ndim", 0) > 0
    if isinstance(values, (str, bytes, Mapping)) or not (is_array or isinstance(values, Iterable)):
        shown = printable(repr(values))
        raise InputError(f"vary: {printable(key)}: {shown:.60} is not a list of values; write [{shown:.60}]")
    listed = list(values)
    if None in listed:
        raise InputError(f"vary: {printable(key)}: None is not a value; leave it out")
    return key, [text_of(value) for value in listed]


def _texts(vary: Any) -> list[tuple[str, list[str]]]:
    texts: list[Any] = [vary] if isinstance(vary, str) else list(vary) if isinstance(vary, Iterable) else [None]
    if not all(isinstance(text, str) for text in texts):
        raise InputError(
            f"vary: {printable(repr(vary)):.60} is neither a mapping nor a list of texts; "
            'write {"links.1.loss": [0, 1e-3]}'
        )
    return [_parsed(text) for text in texts]


def _parsed(text: str) -> tuple[str, list[str]]:
    key, separator, values = text.partition("=")
    if not separator or not key.strip():
        raise InputError(f'--vary "{text}": is not KEY=V1,V2,...; write for example --vary links.1.loss=0,1e-4,1e-3')
    return key.strip(), [value for value in split(values, ",", f"--vary {key.strip()}") if value]


def _labelled(text: str) -> tuple[str | None, tuple[str, ...]]:
    label, separator, keys = text.rpartition(":")
    return (label.strip() or None if separator else None), tuple(key.strip() for key in keys.split("+"))


def _check(text: str, keys: tuple[str, ...], values: list[str]) -> None:
    if not all(keys):
        raise InputError(f'"{text}": names no key to vary; write for example links.1.loss')
    if not values:
        raise InputError(f"{text}: has no value; give at least one, as {text}=1,2")
    if repeated := [value for at, value in enumerate(values) if value in values[:at]]:
        raise InputError(f"{text}: {repeated[0]} appears twice; give each value once")
    if RTT in keys and len(keys) > 1:
        raise InputError(f"{text}: rtt replaces delays of the path; vary it alone, as rtt=50 ms,250 ms")
    for key in keys:
        if key == "seed":
            raise InputError(
                "the seed varies anyway: give the number of seeds with replications (-n), and the first one with seed"
            )
        if key in (CHOICE, "defaults.congestion") or parameter_of(key) in ("algorithm", "python", "plugin"):
            raise InputError(f"{key}: name the algorithms to compare with congestion (-c), not as a variable")
        if key.startswith("defaults.congestion."):
            last = key.rpartition(".")[2]
            raise InputError(f"{key}: the compared algorithms replace this list; vary {CHOICE}.{last} instead")


def _labels(given: list[tuple[str | None, tuple[str, ...]]]) -> list[str]:
    """Returns the given label; otherwise the shortest end of a key that differs from the ends of the other keys."""

    def short(label: str | None, keys: tuple[str, ...], words: int) -> str:
        if label is not None:
            return label
        path = keys[0].replace("[", ".").replace("]", "").split(".")
        extra = path[-1] in _LAST_WORDS_ALONE_SAY_LITTLE or path[-1] in _TAKEN
        return " ".join(path[-(words + extra) :])

    labels = [short(label, keys, 1) for label, keys in given]
    for words in (2, 3, 99):
        labels = [
            short(*own, words) if labels.count(label) > 1 or label in _TAKEN else label
            for own, label in zip(given, labels, strict=True)
        ]
    for label in labels:
        if label in _TAKEN or labels.count(label) > 1:
            raise InputError(f'"{label}" cannot be the label of a variable here; write another one, as NAME: KEY=V1,V2')
    return labels


@dataclass(frozen=True, slots=True)
class Competitor:
    """A candidate of a comparison: an algorithm, or several that are assigned to the flows of a run in turn."""

    label: str
    choices: tuple[str, ...]
    """The algorithms as TOML; none leaves the scenario unchanged."""
    algorithms: tuple[str, ...]
    """The names of the algorithms."""

    @property
    def is_of_a_program(self) -> bool:
        """Whether one of the algorithms is a class that exists only in the calling program."""
        import tomllib

        for text, name in zip(self.choices, self.algorithms, strict=True):
            choice = tomllib.loads(f"choice = {text}")["choice"]
            is_file = isinstance(choice, dict) and not choice.keys().isdisjoint({"python", "plugin"})
            if not is_file and name not in congestion_names():
                return True
        return False

    def changes(self, *, in_turn: bool) -> list[tuple[str, str]]:
        """Returns the changes that set the scenario's defaults to this candidate.

        Parameters
        ----------
        in_turn
            Whether the scenario has defaults that are assigned to flows in turn, which have priority over the others.
        """
        if not self.choices:
            return []
        if len(self.choices) == 1 and not in_turn:
            return [(CHOICE, self.choices[0])]
        return [("defaults.congestion", f"[{', '.join(self.choices)}]")]

    def with_parameters(self, parameters: Sequence[tuple[str, str]]) -> Competitor:
        """Returns the same algorithms with parameters added to their tables, under the same label.

        Parameters
        ----------
        parameters
            Names and values as text; an empty value removes a parameter.
        """
        if not parameters or not self.choices:
            return self
        return replace(self, choices=tuple(_with_parameters(choice, parameters) for choice in self.choices))


def parameter_of(key: str) -> str | None:
    """Returns the parameter of the default congestion control that a key names; None for other keys.

    Examples
    --------
    >>> parameter_of("defaults.tcp.congestion.beta"), parameter_of("links.0.loss")
    ('beta', None)
    """
    name = key.removeprefix(f"{CHOICE}.")
    return None if name == key else name


def split_parameters(changes: Sequence[tuple[str, str]]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Separates parameters of the default congestion control from the other changes; returns these last, by name."""
    named = [(parameter_of(key), key, value) for key, value in changes]
    others = [(key, value) for name, key, value in named if name is None]
    return others, [(name, value) for name, _, value in named if name is not None]


def _with_parameters(choice: str, parameters: Sequence[tuple[str, str]]) -> str:
    import tomllib

    given = tomllib.loads(f"choice = {choice}")["choice"]
    table: dict[str, Any] = dict(given) if isinstance(given, dict) else {"algorithm": given}
    for name, text in parameters:
        try:
            table[name] = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            # Text without quotes, such as 5 ms.
            table[name] = text
        if not text:
            del table[name]
    return toml_value(table)


def competitors(given: Competitors) -> list[Competitor]:
    """Returns the candidates of a comparison.

    Raises
    ------
    InputError
        If two candidates have the same label.

    Examples
    --------
    >>> [competitor.label for competitor in competitors(["cubic", {"algorithm": "cubic", "beta": 0.8}, "cubic/bbr"])]
    ['cubic', 'cubic (beta=0.8)', 'cubic/bbr']
    """
    if not isinstance(given, (str, bytes)):
        # Classes and objects of custom algorithms become names and tables.
        given = plain(given if isinstance(given, (Mapping, type)) or not isinstance(given, Iterable) else list(given))
    if isinstance(given, Mapping):
        found = [
            _competitor(str(label), [choice] if isinstance(choice, (str, Mapping)) else _iterable(choice))
            for label, choice in given.items()
        ]
    else:
        found = [_competitor(None, [choice]) for choice in ([given] if isinstance(given, str) else _iterable(given))]
    labels = [one.label for one in found]
    if repeated := [label for at, label in enumerate(labels) if label in labels[:at]]:
        raise InputError(f'"{repeated[0]}" is named twice; name each algorithm once')
    return found


def _iterable(given: Any) -> list[Any]:
    choices = list(given) if isinstance(given, Iterable) and not isinstance(given, bytes) else [given]
    for choice in choices:
        if not isinstance(choice, (str, Mapping)):
            raise InputError(
                f"congestion: {printable(repr(choice)):.60} is not an algorithm; name one, or write its table, "
                '{"algorithm": "cubic", "beta": 0.8}'
            )
    return choices


def _competitor(label: str | None, given: Sequence[Congestion]) -> Competitor:
    choices: list[tuple[str, dict[str, Any]]] = []
    for choice in given:
        if not isinstance(choice, str):
            choices.append(_table(toml_value(choice)))
            continue
        if file := file_of(choice):
            # As scenarios keep it: from whatever directory it is repeated.
            file = {key: str(Path(path).absolute()) for key, path in file.items()}
            choices.append((toml_value(file), file))
            continue
        own, text = _label_of_choice(choice)
        label = own if label is None else label
        choices += [_table(part) for part in split(text, "/", "--congestion")]
    names = tuple(map(name_of, (table for _, table in choices)))
    shown = "/".join(map(_described, (table for _, table in choices)))
    return Competitor(shown if label is None else label, tuple(text for text, _ in choices), names)


def _label_of_choice(text: str) -> tuple[str | None, str]:
    found = re.match(r"([^{}\[\]\"'/=:]+):\s*(?=\S)", text)
    return (found[1].strip(), text[found.end() :]) if found else (None, text)


def _table(text: str) -> tuple[str, dict[str, Any]]:
    """Returns the algorithm as TOML and as a table."""
    if not text.startswith("{"):
        name = _registered(text.strip("\"'"))
        return toml_value(name), {"algorithm": name}
    import tomllib

    try:
        table = tomllib.loads(f"choice = {text}")["choice"]
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"--congestion {text}: is not a table of TOML: {error}") from None
    if isinstance(name := table.get("algorithm"), str) and _registered(name) != name:
        table["algorithm"] = _registered(name)
        text = toml_value(table)
    return text, table


def _registered(name: str) -> str:
    """Returns the name of an algorithm in the spelling of scenarios, from a name used in the literature.

    Unknown names are returned unchanged; the check of the scenario reports them.
    """
    return _engine.congestion_name(name) or name


def file_of(text: str) -> dict[str, Any] | None:
    """Returns the table for an algorithm in a file, written ``mine.py:Mine`` or ``libmine.so``."""
    if re.fullmatch(r"[^{}]+\.py:\w+", text.strip()):
        return {"python": text.strip()}
    return {"plugin": text.strip()} if re.fullmatch(r"[^{}]+\.(so|dylib|dll)", text.strip()) else None


def name_of(table: Mapping[str, Any]) -> str:
    """Returns the name of an algorithm; for an algorithm in a file, the name of its class or library."""
    if "python" in table:
        return str(table["python"]).rpartition(":")[2]
    return Path(str(table["plugin"])).stem if "plugin" in table else str(table.get("algorithm", ""))


def _described(table: dict[str, Any]) -> str:
    excluded = ("algorithm", "python", "plugin", "code")
    parameters = ", ".join(f"{key}={value}" for key, value in table.items() if key not in excluded)
    return f"{name_of(table)} ({parameters})" if parameters else name_of(table)
