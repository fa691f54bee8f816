"""The reference of every key of a scenario, from its JSON Schema.

A section is a table of a scenario, and each key has a row: type with unit and default, meaning and example. Sections
are on the page of their table. Examples are from the scenarios that come with lightlag, or from the schema of the type
if no scenario sets the key. Sources are
named in the description of a key, or in its row on the page of the TCP model.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from lightlag import _engine

ROOT = Path(__file__).resolve().parents[2]
SOURCE = re.compile(r"RFC \d+(?: §[\d.]+\d)?|[A-Z]\w+(?:, [A-Z]\w+)*(?: et al\.)? (?:19|20)\d\d|draft-[\w-]+\w")
Schema = dict[str, Any]


@dataclass
class Key:
    """A key of a table."""

    name: str
    schema: Schema
    required: bool
    meaning: str
    type: str
    examples: list[Any] = field(default_factory=list)


@dataclass
class Section:
    """A table of a scenario."""

    title: str
    about: str
    keys: dict[str, Key]
    table: Schema


class Reference:
    """The tables of a scenario with their keys, starting at the root."""

    def __init__(self, schema: Schema | None = None) -> None:
        self.schema = json.loads(_engine.schema()) if schema is None else schema
        self.validator = Draft202012Validator(self.schema)
        self.sections: dict[int, Section] = {}
        self._names: dict[str, int] = {}
        self._of_type: dict[str, list[Any]] = {}
        self._add("A scenario", self.schema)
        for path in sorted((ROOT / "scenarios").glob("*.toml")):
            self._learn(self.schema, tomllib.loads(path.read_text("utf-8")))

    def resolved(self, schema: Schema) -> Schema:
        """The schema that a reference names, merged with the other keywords of the reference."""
        if "$ref" not in schema:
            return schema
        target: Schema = self.schema["$defs"][schema["$ref"].rpartition("/")[2]]
        return target

    def alternatives(self, schema: Schema) -> list[Schema]:
        """Returns the alternatives of a schema, without null."""
        schema = self.resolved(schema)
        forms = [form for word in ("anyOf", "oneOf") for form in schema.get(word, [])]
        if not forms:
            return [] if schema.get("type") == "null" else [schema]
        return [one for form in forms for one in self.alternatives(form)]

    def tables(self, schema: Schema) -> list[Schema]:
        """Returns the alternatives that are tables with keys, also as elements of lists."""
        found = []
        for form in self.alternatives(schema):
            if form.get("properties"):
                found.append(form)
            elif isinstance(form.get("items"), dict):
                found += self.tables(form["items"])
        return found

    def _add(self, title: str, table: Schema) -> None:
        if id(table) in self.sections:
            return
        for other in self.sections.values():
            if other.title == title and json.dumps(other.table, sort_keys=True) == json.dumps(table, sort_keys=True):
                self.sections[id(table)] = other
                return
        section = Section(self._unique(title), table.get("description", ""), {}, table)
        self.sections[id(table)] = section
        required = table.get("required", [])
        for name, schema in sorted(table["properties"].items(), key=lambda item: item[0] not in required):
            meaning = schema.get("description") or self.resolved(schema).get("description", "")
            section.keys[name] = Key(name, schema, name in required, meaning, "")
        for name, key in section.keys.items():
            if "const" in key.schema or set(table["properties"]) <= {"forward", "backward"}:
                continue
            forms = [form for form in self.tables(key.schema) if not set(form["properties"]) <= {"forward", "backward"}]
            for form in forms:
                self._add(self._title(name, form) if len(forms) > 1 else name, form)
            key.type = self._type(key.schema)
        for key in section.keys.values():
            key.type = key.type or self._type(key.schema)

    def _title(self, name: str, table: Schema) -> str:
        """Returns a title from the key and the constant that distinguishes this alternative from others."""
        words = [str(one["const"]).replace("+", " plus") for one in table["properties"].values() if "const" in one]
        if not words and (needed := table.get("required")):
            words = [", ".join(needed)]
        return f"{name}: {words[0]}" if words else name

    def _unique(self, title: str) -> str:
        self._names[title] = self._names.get(title, 0) + 1
        return title if self._names[title] == 1 else f"{title} ({self._names[title]})"

    def _type(self, schema: Schema) -> str:
        """Describes the type of a value in words."""
        words: list[str] = []
        choices: list[str] = []
        for form in self.alternatives(schema):
            if "const" in form:
                choices.append(f"`{json.dumps(form['const'])}`")
            elif "enum" in form:
                choices += [f"`{json.dumps(value)}`" for value in form["enum"]]
            elif form.get("properties"):
                if set(form["properties"]) <= {"forward", "backward"}:
                    words.append("`{ forward, backward }`")
                elif id(form) in self.sections:
                    title = self.sections[id(form)].title
                    words.append(f"[{title.rpartition(': ')[2]}](#{anchor(title)})")
            else:
                words.append(self._scalar(form))
        if len(choices) > 24:
            choices = [*choices[:24], "…"]
        return " or ".join(dict.fromkeys(filter(None, [", ".join(choices), *words])))

    def _scalar(self, form: Schema) -> str:
        kind = kind_of(form)
        if kind == "array":
            if pair := form.get("prefixItems"):
                return f"[{', '.join(self._type(one) for one in pair)}]"
            items = form.get("items")
            return "list of " + self._type(items) if isinstance(items, dict) else "list"
        if kind == "boolean":
            return "true or false"
        if kind in ("integer", "number"):
            name = "whole number" if kind == "integer" else "number"
            least, most = form.get("minimum"), form.get("maximum")
            if least is not None and most is not None and most < 1e15:
                return f"{name} from {least:g} to {most:g}"
            return f"{name} from {least:g} on" if least not in (None, 0) else name
        if kind == "object":
            return "table"
        about = str(form.get("description", "text")) if form in self.schema["$defs"].values() else "text"
        return about.split(", such as")[0].split(":")[0].removesuffix(".")

    def _learn(self, schema: Schema, value: Any) -> None:
        """Stores the values of a scenario as examples of their keys."""
        if isinstance(value, list):
            for form in self.alternatives(schema):
                if isinstance(form.get("items"), dict):
                    for element in value:
                        self._learn(form["items"], element)
            return
        if not isinstance(value, dict):
            return
        for form in self.alternatives(schema):
            if form.get("properties") and self.accepts(form, value):
                section = self.sections.get(id(form))
                for name, inner in value.items():
                    if name in form["properties"]:
                        if section and inner not in section.keys[name].examples:
                            section.keys[name].examples.append(inner)
                        self._of_type.setdefault(form["properties"][name].get("$ref", "-"), []).append(inner)
                        self._learn(form["properties"][name], inner)
                return

    def in_order(self) -> list[Section]:
        """The sections by their titles, the scenario first."""
        every = {section.title: section for section in self.sections.values()}
        return sorted(every.values(), key=lambda one: (one.title != "A scenario", one.title.lower()))

    def titled(self, title: str) -> Section:
        """Returns the section with a title."""
        return next(section for section in self.sections.values() if section.title == title)

    def children(self, section: Section) -> list[Section]:
        """Returns the sections that the keys of a section lead to, in order."""
        forms = [form for key in section.keys.values() for form in self.tables(key.schema)]
        found = {id(one): one for form in forms if (one := self.sections.get(id(form))) is not None}
        return list(found.values())

    def accepts(self, schema: Schema, value: Any) -> bool:
        """Whether a value fits a schema."""
        return bool(self.validator.evolve(schema=schema).is_valid(value))

    def example(self, key: Key) -> Any:
        """Returns an example value of a key: the shortest in the shipped scenarios, or one from its type's schema."""
        known = key.examples or self._of_type.get(key.schema.get("$ref", "none"), [])
        if known:
            return min(known, key=lambda value: (len(toml(value)) < 4, len(toml(value))))
        return next((value for value in self._made(key.schema, 0) if self.accepts(key.schema, value)), None)

    def _made(self, schema: Schema, depth: int) -> Iterator[Any]:
        """Values that a schema accepts, from its own keywords."""
        for form in [schema, *self.alternatives(schema)]:
            yield from form.get("examples", [])
            yield from (form["const"],) if "const" in form else ()
            yield from form.get("enum", [])
            if form.get("default") is not None:
                yield form["default"]
            kind = kind_of(form)
            if kind == "boolean":
                yield True
            elif kind in ("integer", "number"):
                least = max(form.get("minimum", 1), 1) if form.get("maximum", 2) > 1 else form.get("maximum", 1) / 2
                yield int(least) if kind == "integer" else float(least)
            elif kind == "array" and "prefixItems" in form:
                yield [next(self._made(one, depth + 1), None) for one in form["prefixItems"]]
            elif kind == "array" and isinstance(form.get("items"), dict) and depth < 3:
                count = form.get("minItems", 1)
                yield from ([one] * count for one in self._made(form["items"], depth + 1))
            elif form.get("properties") and depth < 3:
                names = form.get("required") or list(form["properties"])[:1]
                inner = {name: next(self._made(form["properties"][name], depth + 1), None) for name in names}
                if None not in inner.values():
                    yield inner
            elif kind == "string":
                yield "name"


def kind_of(form: Schema) -> Any:
    """The type that a schema names, except for null."""
    kind = form.get("type")
    return next((one for one in kind if one != "null"), None) if isinstance(kind, list) else kind


def anchor(title: str) -> str:
    """The anchor of a heading, as MyST and GitHub make it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def toml(value: Any) -> str:
    """Returns a value in the form of inline TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {toml(inner)}" for name, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def sources() -> dict[str, str]:
    """The sources of keys of the table `tcp`, from the page of the model."""
    found = {}
    for line in (ROOT / "docs" / "models" / "tcp.md").read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 4 and SOURCE.search(cells[3]):
            found.update(dict.fromkeys(re.findall(r"`([a-z_]+)`", cells[1]), cells[3]))
    return found


def pages(reference: Reference) -> dict[str, str]:
    """Returns the pages of all sections, by the name of their table."""
    named = sources()
    places = places_of(reference)
    texts = {name: HEADING.format(name) + f"\n{_sentence(INTRODUCTIONS[name])}\n" for name in INTRODUCTIONS}
    for section in sorted(reference.in_order(), key=lambda one: one.title.partition(":")[0] != places[one.title]):
        name = places[section.title]
        about = f"{_sentence(section.about)}\n\n" if section.about else ""
        rows = "\n".join(_row(reference, key, named) for key in section.keys.values())
        texts[name] += f"\n## {section.title}\n\n{about}{COLUMNS}{rows}\n"
    return {name: _linked(text, name, places) for name, text in texts.items()}


def overview(reference: Reference) -> str:
    """Returns the page that leads to the others."""
    counts = dict.fromkeys(INTRODUCTIONS, 0)
    for title, name in places_of(reference).items():
        counts[name] += len(reference.titled(title).keys)
    rows = "\n".join(
        f"| [{name}](scenario/{name}.md) | {text} | {counts[name]} |" for name, text in INTRODUCTIONS.items()
    )
    tree = "\n".join(f"{name} <scenario/{name}>" for name in INTRODUCTIONS)
    return f"{HEAD}\n| page | keys of | number |\n|---|---|---|\n{rows}\n\n```{{toctree}}\n:hidden:\n\n{tree}\n```\n"


def places_of(reference: Reference) -> dict[str, str]:
    """Returns the page of each section: of the nearest table of a scenario that leads to it."""
    found: dict[str, str] = {"A scenario": "scenario"}
    waiting = [reference.titled("A scenario")]
    while waiting:
        section = waiting.pop(0)
        for child in reference.children(section):
            if child.title in found:
                continue
            own = child.title.partition(":")[0]
            found[child.title] = own if own in INTRODUCTIONS else found[section.title]
            waiting.append(child)
    return found


def _linked(text: str, name: str, places: dict[str, str]) -> str:
    """Returns a page whose links to sections on other pages name these pages."""
    anchors = {anchor(title): place for title, place in places.items()}

    def target(match: re.Match[str]) -> str:
        place = anchors[match[1]]
        return f"](#{match[1]})" if place == name else f"]({place}.md#{match[1]})"

    return re.sub(r"\]\(#([^)]+)\)", target, text)


def _row(reference: Reference, key: Key, named: dict[str, str]) -> str:
    default = key.schema.get("default")
    example = reference.example(key)
    shown = "" if example is None else f"`{toml(example)}`"
    if len(shown) > 90:
        shown = shown[:80] + " …`"
    meaning = _sentence(key.meaning)
    if not SOURCE.search(meaning) and key.name in named:
        meaning += f" ({named[key.name]})"
    value = key.type
    if default is not None:
        value += f"; default `{toml(default)}`"
    cells = [
        f"`{key.name}`" + (" **required**" if key.required else ""),
        value,
        meaning + (f" *Example:* {shown}" if shown else ""),
    ]
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return text[:1].upper() + text[1:] + ("" if not text or text.endswith((".", "…")) else ".")


INTRODUCTIONS = {
    "scenario": "the file itself: name, duration, seed, and the names of the tables",
    "links": "links: rate, delay, queue, losses, outages, changes over time",
    "flows": "flows: endpoints, start, transport and traffic",
    "defaults": "defaults of all flows",
    "tcp": "TCP: buffers, timers, recovery, SCPS-TP",
    "quic": "QUIC: credit, acknowledgements, resumption",
    "congestion": "congestion controls with their parameters",
    "nodes": "nodes: positions, mobility, radios, terminals",
    "media": "media that nodes share: Wi-Fi, satellite beams, random access; ad hoc routing",
    "topology": "generated networks: dumbbell, chain, star, satellite, swarm, sensors",
    "constellation": "constellations: shells, elements (TLE), lasers, handovers",
    "stations": "ground stations of a constellation",
    "proxies": "proxies that split connections (PEP)",
    "tunnels": "tunnels (MASQUE)",
    "routing": "routes of the wired network",
    "record": "what a run records, and captures",
}
"""Pages of the reference, each with its contents. A section is on the page of the nearest table with a page."""

HEADING = "# Scenario keys: {}\n"
COLUMNS = "| key | value | meaning |\n|---|---|---|\n"
HEAD = """\
# Scenario keys

Every key of a scenario file, on a page for each table. The engine's schema writes these pages, so they are complete;
`lightlag schema` prints the schema, and editors that know JSON Schema complete and check scenarios with it.
`lightlag explain links.queue` prints one key.

A scenario is TOML or JSON. In Python the tables are classes with the same keys: `ll.Link(rate="10 Mbit/s")`. On
the command line `--set links.0.rate="10 Mbit/s"` sets a key; elements of lists are numbered, starting at 0. Quantities
are texts with their units. A value for a link may be a table `{ forward, backward }`, one value for each direction.
Unknown keys are errors.
"""
