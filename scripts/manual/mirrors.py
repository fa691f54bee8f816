"""Writes the fields of the dataclasses of a scenario from the engine's schema.

A class of `lightlag.scenario` mirrors the table of the schema that has its title or its name. In the module of a class,
this replaces the first paragraph of the class's docstring, and its fields with their types and docstrings. Everything
else stays as it is: the order of fields, methods, and what is between classes.

- A key without a field becomes the last field of its class, and a field without a key goes.
- The docstring of a field is the description of its key. Range, default and example follow, unless the description
names them. - A type stays as long as it accepts the same values as the schema, because it may be more precise: it
distinguishes
  ``tuple`` from ``Sequence``, and lists the custom classes that a value may be. Otherwise it is
  :meth:`Definitions.hint`.

``make mirrors`` runs it, and writes what :mod:`manual.results` makes; a test compares the files with what it would
write.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import importlib
import keyword
import re
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

from lightlag import scenario
from lightlag.scenario import values
from manual.hints import Definitions, Table, quoted
from manual.results import FILE, SOURCE, results, with_names

__all__ = ["MODULES", "Mirror"]

MODULES = ("document", "flows", "links", "quic", "radio", "record", "sky", "tcp", "topology")
"""The modules of `lightlag.scenario` with classes that mirror the schema."""
_NAMED_IN_PYTHON = {("Scenario", "name")}
"""Fields without a default although their key has one: a script has to name the scenario that it makes."""
_GENERAL = {"Any": "typing", "Literal": "typing", "Mapping": "collections.abc", "Sequence": "collections.abc"}
"""Modules of the names in types that are not classes of a scenario."""
_WIDTH = 120


class Mirror:
    """A module whose classes mirror tables of the schema.

    Parameters
    ----------
    name
        One of `MODULES`.
    definitions
        The schema; by default the engine's.
    """

    def __init__(self, name: str, definitions: Definitions | None = None) -> None:
        self.module = importlib.import_module(f"lightlag.scenario.{name}")
        self.path = Path(str(self.module.__file__))
        self.definitions = definitions or Definitions()

    def text(self) -> str:
        """Returns the current text of the module."""
        return self.path.read_text("utf-8")

    def updated(self) -> str:
        """Returns the module with the fields of the schema.

        Raises
        ------
        subprocess.CalledProcessError
            If ruff cannot format it.
        """
        text = self.text()
        lines = text.splitlines(keepends=True)
        for node in reversed(ast.parse(text).body):
            if isinstance(node, ast.ClassDef) and node.name in self.definitions.tables:
                first, last = _mirrored(node)
                lines[first:last] = [f"{line}\n" for line in self._body(node, text)]
        return self._formatted(_with_imports("".join(lines)))

    def _body(self, node: ast.ClassDef, text: str) -> Iterator[str]:
        """Yields the lines of a class up to its methods."""
        table = self.definitions.tables[node.name]
        _, *further = (ast.get_docstring(node) or "").split("\n\n")
        about = _filled(_plain(table.get("description", "")))
        if further:
            about = about.removesuffix('"""') + "\n\n" + textwrap.indent("\n\n".join([*further, "\n"]).rstrip(), "    ")
        if "\n" in about:
            about = about.removesuffix('"""') + '\n    """'
        yield from [*about.split("\n"), ""]
        there = dict(_fields(node, text))
        hints = get_type_hints(getattr(self.module, node.name))
        inherited = {key for base in node.bases for key in self.definitions.tables[_name(base)]["properties"]}
        keys = {key + "_" * keyword.iskeyword(key): key for key in table["properties"] if key not in inherited}
        for name in [*(name for name in there if name in keys), *sorted(keys.keys() - there.keys())]:
            is_free = keys[name] not in table.get("required", ()) and (node.name, name) not in _NAMED_IN_PYTHON
            schema = table["properties"][keys[name]]
            is_kept = name in hints and self.definitions.is_same(hints[name], schema)
            yield f"    {name}: {self._typed(schema, there.get(name), is_kept, is_free)}"
            if "const" not in schema:
                yield from _filled(self._text(schema if is_free else schema | {"default": None})).split("\n")

    def _typed(self, schema: Table, there: _Field | None, is_kept: bool, is_free: bool) -> str:
        """Returns the type of a field, and its default if it has one."""
        hint = there.hint if there and is_kept else self.definitions.hint(schema)
        default = there.default if there else None
        if is_free:
            default = default or "None"
        elif "const" not in schema:
            default, hint = None, hint.removesuffix(" | None")
        if default == "None" and not hint.endswith("None"):
            hint = f"{hint} | None"
        return f"{hint} = {default}" if default else hint

    def _text(self, schema: Table) -> str:
        """Returns the text of a key: its description, and its range, default and example unless the description names
        them.
        """
        whole = self.definitions.target(schema["$ref"]) | schema if "$ref" in schema else schema
        text = _plain(whole.get("description", ""))
        least, most, default = whole.get("minimum", 0), whole.get("maximum"), schema.get("default")
        parts = [text]
        if "$ref" not in schema and most is not None and most < 2**53:
            if not {_number(most), str(most)} & set(re.findall(r"[\d,.]*\d", text)):
                parts.append(f"From {_number(least)} to {_number(most)}.")
        elif "$ref" not in schema and least > 0 and "at least" not in text:
            parts.append(f"At least {_number(least)}.")
        if isinstance(default, (str, int, float)) and "default" not in text.lower():
            parts.append(f"Default: {f'``{quoted(default)}``' if isinstance(default, str) else _number(default)}.")
        if "examples" in schema and '``"' not in text and "default" not in text:
            parts.append(f"Example: ``{quoted(schema['examples'][0])}``.")
        return " ".join(parts)

    def _formatted(self, text: str) -> str:
        """Returns the module in the style of all others."""
        fix = ["check", "--quiet", "--fix", "--select", "F401,I"]
        for words in (fix, ["format", "--quiet"]):
            command = [sys.executable, "-m", "ruff", *words, "--stdin-filename", str(self.path), "-"]
            text = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
        return text


@dataclasses.dataclass(frozen=True)
class _Field:
    """The type of a field and its default, in the form of Python source."""

    hint: str
    default: str | None


def _fields(node: ast.ClassDef, text: str) -> Iterator[tuple[str, _Field]]:
    """Yields the fields of a class with their names."""
    for field in node.body:
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            hint = ast.get_source_segment(text, field.annotation) or ""
            yield field.target.id, _Field(hint, None if field.value is None else ast.unparse(field.value))


def _mirrored(node: ast.ClassDef) -> tuple[int, int]:
    """Returns the lines of a class from its docstring to its last field, including that field's docstring."""
    last = max(index for index, one in enumerate(node.body) if isinstance(one, ast.AnnAssign))
    if last + 1 < len(node.body) and isinstance(node.body[last + 1], ast.Expr):
        last += 1
    return node.body[0].lineno - 1, int(node.body[last].end_lineno or 0)


def _name(node: ast.expr) -> str:
    assert isinstance(node, ast.Name)
    return node.id


def _with_imports(text: str) -> str:
    """Returns a module with imports of the names that its types use."""
    tree = ast.parse(text)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    bound = {alias.asname or alias.name for node in ast.walk(tree) for alias in getattr(node, "names", ())}
    bound |= {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    missing = sorted(name for name in used - bound - vars(builtins).keys() if _home(name))
    future = "from __future__ import annotations\n"
    return text.replace(future, future + "".join(f"from {_home(name)} import {name}\n" for name in missing), 1)


def _home(name: str) -> str | None:
    """Returns the module of a name that types use; None for any other name."""
    if name in _GENERAL:
        return _GENERAL[name]
    if hasattr(values, name):
        return values.__name__
    mirror = getattr(scenario, name, None)
    return str(mirror.__module__) if dataclasses.is_dataclass(mirror) else None


def _plain(description: str) -> str:
    """Returns a description as a sentence of a docstring."""
    text = re.sub(r"`([^`]+)`", lambda code: f"``{_python(code[1])}``", " ".join(description.split()))
    return text[:1].upper() + text[1:] + "." * (not text.endswith("."))


def _python(code: str) -> str:
    """Returns a name or a value of TOML as Python writes it."""
    if keyword.iskeyword(code):
        return f"{code}_"
    if code.startswith("{") or code in ("true", "false"):
        try:
            return quoted(tomllib.loads(f"value = {code}")["value"])
        except tomllib.TOMLDecodeError:
            return code
    return code


def _number(value: Any) -> str:
    """Returns a number with separated thousands, or a flag."""
    return f"{value:,.0f}" if not isinstance(value, bool) and float(value).is_integer() else str(value)


def _filled(text: str) -> str:
    """Returns the docstring of a class or a field, in which lines do not break inside code."""
    held = re.sub(r"``[^`]+``|Default: \S+|Example: \S+", lambda code: code[0].replace(" ", "\0"), f'"""{text}"""')
    indent = "    "
    wrapped = textwrap.fill(
        held, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return wrapped.replace("\0", " ")


if __name__ == "__main__":
    for mirror in map(Mirror, MODULES):
        mirror.path.write_text(mirror.updated(), "utf-8")
    FILE.write_text(results(), "utf-8")
    SOURCE.write_text(with_names(SOURCE.read_text("utf-8")), "utf-8")
