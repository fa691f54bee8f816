"""Explanations of names, as text for the terminal."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from functools import cache
from typing import Any

from lightlag import _engine
from lightlag._renamed import renamed
from lightlag.errors import InputError
from lightlag.scenario import toml_value
from lightlag.text.terminal import meant
from lightlag.words import schema as _schema

__all__ = ["PROVENANCE", "algorithms", "explain", "first_sentences", "models", "presets", "profiles", "queues"]

PROVENANCE = {
    "established": "Established: the source states the rules and constants.",
    "reconstructed": "Reconstructed: the public texts leave rules or constants open. lightlag's own choices fill the "
    "gaps and are listed as deviations (lightlag explain NAME); the results hold for this design.",
}

MODELS = {
    "RoutingProtocol": ("routing protocol of swarms", "routing", "protocol"),
    "RadioRateControl": ("rate control of radios", "rate_control", "algorithm"),
    "Propagation": ("model of propagation", "propagation", "model"),
    "Fading": ("model of fading", "fading", "model"),
    "Mobility": ("model of mobility", "mobility", "model"),
    "Placement": ("placement of a swarm", "placement", "kind"),
}
"""Models of swarms by their definition in the schema: kind, key in a scenario, and key that holds the model's name."""


def explain(name: str) -> str:
    """Explains a name, as text.

    It may be the name of an algorithm (here or in the literature), a queue discipline, a model, a profile, a preset, a
    key of a scenario, a value of a key, a column of results or a warning.

    Examples
    --------
    >>> print(explain("newreno").splitlines()[0])
    newreno: congestion control
    """
    kinds = (
        (algorithms(), _algorithm),
        (queues(), _queue),
        (profiles(), _profile),
        (presets(), _preset),
        (models(), _models),
    )
    from lightlag.words import words as _words

    for spelling in _words.spellings(name):
        for names, describe in kinds:
            if spelling in names:
                # A preset is a scenario file.
                key = None if describe is _preset else _words.key(spelling)
                return describe(spelling) + (f"\n\n{key}" if key else "")
    algorithm = _engine.congestion_name(name)
    if algorithm and algorithm in {entry["name"] for entry in _catalog()["congestion"]}:
        return _algorithm(algorithm)
    if words := _words.explanation(name):
        return words
    if message := renamed(name):
        raise InputError(message)
    known = [known for names, _ in kinds for known in names]
    near = meant(name, [*known, *_words.known()])
    raise InputError(
        f'unknown name "{name}"; {near}name an algorithm, a queue discipline, a profile or a preset '
        '(see "lightlag list"), a key, a column, a warning or a term of a table'
    )


def algorithms() -> dict[str, str]:
    """Returns the congestion-control algorithms, each with a paragraph."""
    return {entry["name"]: entry["about"] for entry in _catalog()["congestion"]}


def queues() -> dict[str, str]:
    """Returns the queue disciplines, each with a paragraph."""
    return {name: table["description"] for name, table in _disciplines().items()}


def models() -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """Returns the models of swarms by name, each as its definition and its table in the schema.

    A name may stand for several models.
    """
    definitions = _schema.root()["$defs"]
    found: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for definition, (_, _, key) in MODELS.items():
        for table in definitions[definition]["anyOf"]:
            if "properties" in table:
                found.setdefault(table["properties"][key]["const"], []).append((definition, table))
    return found


def profiles() -> dict[str, str]:
    """Returns the profiles, each with a sentence."""
    variants = _schema.root()["$defs"]["Profile"]["oneOf"]
    return {variant["const"]: variant["description"] for variant in variants}


def presets() -> dict[str, str]:
    """Returns the presets, each with a sentence."""
    from lightlag.presets import PRESETS

    return {name: (preset.__doc__ or "").split("\n", maxsplit=1)[0] for name, preset in PRESETS.items()}


def first_sentences(names: Mapping[str, str]) -> dict[str, str]:
    """Returns the first sentence of each text, without its full stop."""
    return {name: about.split(". ", maxsplit=1)[0].rstrip(".") for name, about in names.items()}


@cache
def _catalog() -> dict[str, Any]:
    catalog: dict[str, Any] = json.loads(_engine.catalog())
    return catalog


def _algorithm(name: str) -> str:
    (entry,) = (entry for entry in _catalog()["congestion"] if entry["name"] == name)
    parts = [f"{name}: congestion control", _wrapped(entry["about"], "  ")]
    parts.append("Equations, W in segments\n" + "\n".join(f"  {line}" for line in entry["equations"]))
    if entry["parameters"]:
        parts.append("Parameters\n" + "\n".join(map(_parameter, entry["parameters"])))
        first = entry["parameters"][0]
        table = toml_value({"algorithm": name, first["name"]: first["default"]})
        parts.append(f'In a scenario\n  congestion = "{name}"\n  congestion = {table}')
    else:
        parts.append(f'In a scenario\n  congestion = "{name}"')
    if entry["needs"]:
        parts.append("Needs from the connection\n" + "\n".join(f"  {need}" for need in entry["needs"]))
    parts.append(f"Source\n{_wrapped(entry['source'], '  ')}")
    deviations = "\n".join(map(_deviation, entry["deviations"])) or "  No deviation from the source is known."
    parts.append(f"Deviations from the source\n{deviations}")
    if entry["variants"]:
        variants = ", ".join(value for value, _ in entry["variants"])
        parts.append(
            f"Variants\n{_wrapped(f'{variants}; the page of {name} in the documentation has their rules.', '  ')}"
        )
    parts.append(f"Provenance\n{_wrapped(PROVENANCE[entry['provenance']], '  ')}")
    return "\n\n".join(parts)


def _parameter(parameter: dict[str, str]) -> str:
    unit = f" {parameter['unit']}" if parameter["unit"] not in ("", "time") else ""
    return f"  {parameter['name']} = {parameter['default']}{unit}\n{_wrapped(parameter['meaning'], '      ')}"


def _deviation(deviation: dict[str, str]) -> str:
    scope = f"{deviation['scope']}: " if deviation["scope"] else ""
    text = f"{scope}{deviation['source']}. Here: {deviation['here']}. Reason: {deviation['reason']}."
    return textwrap.fill(text, 78, initial_indent="  - ", subsequent_indent="    ")


def _disciplines() -> dict[str, Any]:
    """Returns the schema of each queue discipline that is built in."""
    variants = _schema.root()["$defs"]["Queue"]["anyOf"]
    tables = (variant for variant in variants if "discipline" in variant.get("properties", {}))
    return {table["properties"]["discipline"]["const"]: table for table in tables}


def _queue(name: str) -> str:
    table = _disciplines()[name]
    needed = [key for key in table["required"] if key != "discipline"]
    keys = (key for key in table["properties"] if key != "discipline")
    lines = [f"  {key}{', required' if key in needed else ''}" for key in keys]
    example = toml_value({"discipline": name} | dict.fromkeys(needed, "20 packets"))
    parts = [f"{name}: queue discipline", _wrapped(table["description"], "  "), "Parameters\n" + "\n".join(lines)]
    parts.append(f"In a scenario\n  queue = {example}")
    return "\n\n".join(parts)


def _models(name: str) -> str:
    return "\n\n".join(_model(name, definition, table) for definition, table in models()[name])


def _model(name: str, definition: str, table: dict[str, Any]) -> str:
    what, place, key = MODELS[definition]
    needed = [parameter for parameter in table["required"] if parameter != key]
    lines = [
        f"  {parameter}{', required' if parameter in needed else ''}"
        for parameter in table["properties"]
        if parameter != key
    ]
    parts = [f"{name}: {what}", _wrapped(table["description"], "  ")]
    if lines:
        parts.append("Parameters\n" + "\n".join(lines))
    # A required parameter has no default to show.
    more = "".join(f", {parameter} = ..." for parameter in needed)
    example = f'{{ {key} = "{name}"{more} }}' if needed else f'"{name}"'
    parts.append(f"In a scenario\n  {place} = {example}")
    return "\n\n".join(parts)


def _profile(name: str) -> str:
    ((_, config),) = (entry for entry in _catalog()["profiles"] if entry[0] == name)
    lines = [f"  {key:<16} {_shown(value)}" for key, value in config.items() if key != "profile"]
    return "\n\n".join(
        [
            f"{name}: TCP profile",
            _wrapped(profiles()[name], "  "),
            "Behaviour\n" + "\n".join(lines),
            f'In a scenario\n  [defaults.tcp]\n  profile = "{name}"',
        ]
    )


def _shown(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_shown(entry)}" for key, entry in value.items())
    return str(value).lower() if isinstance(value, bool) else str(value)


def _preset(name: str) -> str:
    """Returns the scenario file of a preset, with its description as a comment."""
    from lightlag.constellation.satellites import Sky
    from lightlag.presets import PRESETS
    from lightlag.scenario import read_scenario
    from lightlag.words.schema import DIRECTIVE

    head = f"{DIRECTIVE}\n# {presets()[name]}\n# Run it with: lightlag run {name}"
    net = PRESETS[name]()
    if sky := read_scenario(net).sky():
        head += f"\n# Its constellation: {Sky(sky).about()}"
    head += "\n# Editors complete and check it with: lightlag schema > lightlag.schema.json"
    return f"{head}\n{net.to_toml()}"


def _wrapped(text: str, indent: str) -> str:
    return textwrap.fill(text, 78, initial_indent=indent, subsequent_indent=indent)
