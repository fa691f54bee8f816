"""Prose of a source file: comments, doc comments, texts in strings, and the paragraphs of pages.

One regular expression per language finds comments and strings, because parsers would take minutes for the repository.
Code inside prose (in backticks, doctests, code blocks, fields of format strings, links) becomes `¤`. Line breaks stay,
so that a position has a line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

Kind = Literal["comment", "string", "page"]


@dataclass(frozen=True)
class Passage:
    """Prose that belongs together: a comment, a string, or a page."""

    kind: Kind
    line: int
    """Line of the file at which the text starts, counted from 1."""
    text: str
    doc: bool = False
    """Whether it documents an item of code."""


def passages(path: PurePath, source: str) -> list[Passage]:
    """Returns the prose of a file, or nothing for a kind of file without prose."""
    return list(READERS.get(path.suffix, READERS.get(path.name, _none))(source))


def is_read(path: PurePath) -> bool:
    """Returns true if files of this kind have prose."""
    return path.suffix in READERS or path.name in READERS


def _none(_: str) -> Iterator[Passage]:
    return iter(())


def _blank(found: re.Match[str]) -> str:
    return "¤" + "\n" * found[0].count("\n")


# Text in backticks, addresses, targets of links, options, paths and names of files.
CODE = re.compile(
    r"``[^`]+``|`[^`]*`|https?://[^\s)>\]]+|\]\([^)]*\)|(?<![\w-])--[a-z][\w-]*"
    r"|\b[\w.-]+(?:/[\w.*-]+)+|\b[\w-]+\.(?:json|html|toml|md|py|rs|ts|csv|parquet|pdf)\b"
)
ESCAPE = re.compile(r"\\[nrt0]|\\u\{?[0-9a-fA-F]+\}?|\\(?=\n)")
FIELD = re.compile(r"\$?\{(?:[^{}]|\{[^{}]*\})*\}")
TITLE = re.compile(r'["“][A-Z][^"“”\n]{12,}["”]')
# A text of two words or more; names, keys and formats are code.
WORDS = re.compile(r"""[A-Za-z]['’]?[a-z]+["',:;)]* ["'(]?[a-z]{2,}""")


def _without_code(text: str) -> str:
    return CODE.sub(_blank, text)


def _string(kind: Kind, line: int, body: str) -> Passage | None:
    text = FIELD.sub(_blank, ESCAPE.sub(" ", body))
    return Passage(kind, line, _without_code(text)) if WORDS.search(text) else None


def _joined(found: list[tuple[int, int, Passage]], source: str) -> Iterator[Passage]:
    """Joins line comments, and parts of one string, that only blanks separate."""
    whole: Passage | None = None
    end, last, mark = 0, 0, ""
    for start, stop, passage in found:
        follows = whole is not None and passage.line == last + 1 and not source[end:start].strip(" \t\nrfbu")
        alike = whole is not None and (whole.kind, whole.doc) == (passage.kind, passage.doc)
        if whole and follows and alike and (not passage.doc or source[start : start + 3] == mark):
            whole = Passage(whole.kind, whole.line, f"{whole.text}\n{passage.text}", whole.doc)
        else:
            if whole:
                yield whole
            whole = passage
        end, last, mark = stop, whole.line + whole.text.count("\n"), source[start : start + 3]
    if whole:
        yield whole


def _prose(parts: Iterator[tuple[int, int, Passage]], source: str) -> Iterator[Passage]:
    for passage in _joined(list(parts), source):
        text = passage.text
        if passage.kind == "comment":
            text = _without_code(DOCTEST.sub(_blank, FENCED.sub(_blank, text)))
        yield Passage(passage.kind, passage.line, text, passage.doc)


FENCED = re.compile(r"^[ \t>]*(`{3,}|~{3,}|:{3,})[^`\n]*\n.*?^[ \t>]*\1[ \t]*$", re.MULTILINE | re.DOTALL)
DOCTEST = re.compile(r"^[ \t]*>>> .*(?:\n[ \t]*\S.*)*", re.MULTILINE)

RUST = re.compile(
    r"""//[^\n]*|/\*|\br(#*)".*?"\1|"(?:[^"\\]|\\.)*"|'(?:[^'\\\n]|\\[^\n]+?)'""",
    re.DOTALL,
)
NESTED = re.compile(r"/\*|\*/")


def _rust(source: str) -> Iterator[Passage]:
    return _prose(_rust_parts(source), source)


def _rust_parts(source: str) -> Iterator[tuple[int, int, Passage]]:
    position, line, counted = 0, 1, 0
    while found := RUST.search(source, position):
        start, position = found.span()
        line, counted = line + source.count("\n", counted, start), start
        text = found[0]
        if text.startswith("//"):
            doc = text[2:3] in ("/", "!") and not text.startswith("////")
            yield start, position, Passage("comment", line, text[3:] if doc else text[2:], doc)
        elif text == "/*":
            depth = 1
            while depth and (mark := NESTED.search(source, position)):
                depth += 1 if mark[0] == "/*" else -1
                position = mark.end()
            body = source[start + 2 : position].removesuffix("*/")
            yield start, position, Passage("comment", line, body.lstrip("*!"), body[:1] in ("*", "!"))
        elif text[0] != "'":
            body = text[text.index('"') + 1 :].rstrip("#")[:-1]
            if passage := _string("string", line, body):
                yield start, position, passage


PYTHON = re.compile(
    r'''\#[^\n]*|"""(?:[^\\]|\\.)*?"""|\'\'\'(?:[^\\]|\\.)*?\'\'\'|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*\'''',
    re.DOTALL,
)


def _python(source: str) -> Iterator[Passage]:
    return _prose(_python_parts(source), source)


def _python_parts(source: str) -> Iterator[tuple[int, int, Passage]]:
    line, counted, code = 1, 0, ""
    for found in PYTHON.finditer(source):
        start, end = found.span()
        line, before, counted = line + source.count("\n", counted, start), source[counted:start], start
        text = found[0]
        if text[0] == "#":
            yield start, end, Passage("comment", line, text.lstrip("#:"))
            continue
        prefix = re.search(r"\b[rRbBuUfF]{1,2}$", before)
        code = before.strip() or code
        if text[:3] in ('"""', "'''"):
            # A docstring is a statement: what precedes it does not need a value.
            if not source[source.rfind("\n", 0, start) + 1 : start].strip("r ") and code[-1:] not in tuple("(,=[{+%"):
                yield start, end, Passage("comment", line, text[3:-3], True)
                code = text
                continue
            body = text[3:-3]
        else:
            body = text[1:-1]
        code = text
        if passage := _string("string", line, body if prefix is None or "b" not in prefix[0].lower() else ""):
            yield start, end, passage


SCRIPT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'"""
    r"""|`(?:[^`\\$]|\\.|\$(?!\{)|\$\{(?:[^{}`]|\{[^{}]*\}|`[^`]*`)*\})*`"""
    r"""|[=(,:!&|?]\s*/(?![/*])(?:\\.|\[(?:\\.|[^\]\n\\])*\]|[^/\\\n\[])+/[a-z]*""",
    re.DOTALL,
)
# Text between tags; what looks like code is none.
ELEMENT = re.compile(
    r"(?<=[^=]>)[^<>{}=;()\[\]|]*?[A-Za-z]{2,}[,:]? [a-z]{2,}[^<>{}=;\[\]|]*(?=[<{])"
    r"|(?<=\})[^<>{}=;()\[\]|]*?[A-Za-z]{2,}[,:]? [a-z]{2,}[^<>{}=;\[\]|]*(?=</)"
)
KEYWORD = re.compile(r"\b(?:function|const|return|export|import)\b")
CLASS = re.compile(r"\bclass(?:Name)?=$")
THROWN = re.compile(r"@\w+ \{[^}]*\}")


def _typescript(source: str) -> Iterator[Passage]:
    return _prose(_typescript_parts(source), source)


def _typescript_parts(source: str) -> Iterator[tuple[int, int, Passage]]:
    line, counted = 1, 0
    for found in SCRIPT.finditer(source):
        start, end = found.span()
        line, counted = line + source.count("\n", counted, start), start
        text = found[0]
        if text.startswith("//"):
            yield start, end, Passage("comment", line, text[2:])
        elif text.startswith("/*"):
            body = THROWN.sub("¤", re.sub(r"^[ \t]*\* ?", "", text[2:-2].lstrip("*"), flags=re.MULTILINE))
            yield start, end, Passage("comment", line, body, text.startswith("/**"))
        elif text[0] in "\"'`":
            is_class = CLASS.search(source, max(0, start - 12), start)
            if not is_class and (passage := _string("string", line, text[1:-1])):
                yield start, end, passage


def _tsx(source: str) -> Iterator[Passage]:
    yield from _typescript(source)
    code = SCRIPT.sub(_blank, source)
    for found in ELEMENT.finditer(code):
        if not KEYWORD.search(found[0]):
            yield Passage("string", code.count("\n", 0, found.start()) + 1, _without_code(found[0]))


COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
LIST = re.compile(r"^\s*(?:[-*]|\d+\.) ", re.MULTILINE)


def _markdown(source: str) -> Iterator[Passage]:
    text = COMMENT.sub(_blank, FENCED.sub(_blank, source))
    text = "".join(_without_indented(text))
    yield Passage("page", 1, TITLE.sub(_blank, _without_code(text)))


def _without_indented(text: str) -> Iterator[str]:
    """Leaves out indented blocks, but not the paragraphs of a list."""
    listed = blank = code = False
    for line in text.splitlines(keepends=True):
        if not line.strip():
            blank = True
            yield line
            continue
        indented = line.startswith(("    ", "\t"))
        code = indented and (code or (blank and not listed))
        if not indented:
            listed = LIST.match(line) is not None or (listed and not blank) or (listed and line.startswith(" "))
        blank = False
        yield "¤\n" if code else line


HASHED = re.compile(r'"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*', re.DOTALL)


def _toml(source: str) -> Iterator[Passage]:
    return _prose(_hashed_parts(source, HASHED), source)


COMMENTED = re.compile(r"(?:^|(?<=\s))#[^\n]*", re.MULTILINE)


def _commented(source: str) -> Iterator[Passage]:
    return _prose(_hashed_parts(source, COMMENTED), source)


def _hashed_parts(source: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int, Passage]]:
    line, counted = 1, 0
    for found in pattern.finditer(source):
        start, end = found.span()
        line, counted = line + source.count("\n", counted, start), start
        text = found[0]
        if text[0] == "#":
            yield start, end, Passage("comment", line, text.lstrip("#!"))
        elif passage := _string("string", line, text.strip("\"'")):
            yield start, end, passage


READERS: dict[str, Callable[[str], Iterator[Passage]]] = {
    ".rs": _rust,
    ".py": _python,
    ".pyi": _python,
    ".ts": _typescript,
    ".tsx": _tsx,
    ".js": _typescript,
    ".css": _typescript,
    ".c": _typescript,
    ".cc": _typescript,
    ".h": _typescript,
    ".tcl": _commented,
    ".md": _markdown,
    ".toml": _toml,
    ".script": _commented,
    ".sh": _commented,
    "Makefile": _commented,
}
"""Reader of each kind of file, by suffix or name."""
