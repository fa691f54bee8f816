"""Prose has no more phrases of `scripts/words.toml` than the stored counts, and the extractor finds all prose."""

from __future__ import annotations

import io
import tokenize
from pathlib import PurePath

import pytest

from words import counts, prose, rules
from words.prose import Passage

SHOWN = 20
"""Number of hits that a failure lists of an area."""


@pytest.fixture(scope="module")
def found() -> list[counts.Found]:
    return counts.find()


def test_no_count_rises(found: list[counts.Found]) -> None:
    problems = []
    for area, kind in counts.risen(counts.count(found), counts.stored()):
        new = counts.added(found, area, kind)
        problems += [f"{area} ({kind}): more hits than in scripts/words-counts.toml", *map(str, new[:SHOWN])]
    assert not problems, "\n".join(problems)


def test_paths_without_hits_stay_so(found: list[counts.Found]) -> None:
    hits = counts.in_zero(found)
    assert not hits, "\n".join(map(str, hits))


def test_stored_counts_belong_to_existing_areas() -> None:
    assert [area for area in counts.stored() if not (counts.ROOT / area).exists()] == []


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("the way of each flow", "way"),
        ("one row a flow", "per"),
        ("decides once a round trip", "per"),
        ("64 bytes a packet", "per"),
        ("it leaves at once", "at-once"),
        ("the node at\nwhich a packet arrives", "which"),
        ("this is no table", "is-no"),
        ("from the first one on, it holds", "from-on"),
        ("It applies here, too.", "anew"),
        ("goes on", "goes-on"),
        ("Of a run only its outcome is stored.", "fronted"),
    ],
)
def test_a_fault_is_found(text: str, rule: str) -> None:
    hits = list(rules.read().hits(Passage("comment", 1, text)))
    assert rule in [hit.rule.name for hit in hits]


@pytest.mark.parametrize(
    "text",
    [
        "In this way it holds; by the way, the other way round.",
        "a whole number of segments",
        "once a packet arrives",
        "There is no more.",
        "the station sends a message a second time",
        "at most 3 packets",
        "goes on the wire",
        "too many",
        "Of course it does.",
        "highway, always, sidewall, gateway",
    ],
)
def test_plain_english_is_not_a_fault(text: str) -> None:
    assert [hit.phrase for hit in rules.read().hits(Passage("comment", 1, text))] == []


def test_only_doc_comments_open_with_a_question_word() -> None:
    found = [list(rules.read().hits(Passage("comment", 1, " What it holds.", doc))) for doc in (True, False)]
    assert [[hit.rule.name for hit in hits] for hits in found] == [["question"], []]


def read(name: str, source: str) -> list[tuple[str, int, str]]:
    return [(one.kind, one.line, " ".join(one.text.split())) for one in prose.passages(PurePath(name), source)]


def test_rust_comments_and_strings() -> None:
    source = """//! A module,
//! on two lines.
/// A doc comment with `code at once`.
fn f<'a>(x: &'a str) -> char {
    let quote = '"'; // a comment after a quote
    let text = "a text // that is \\"no\\" comment";
    /* outer /* nested one */ still a comment */
    let raw = r#"raw "text" here"#;
    let key = "resent";
    panic!("first line \\
            and second {name} line");
    '\\''
}
// one
// and two

// apart
"""
    assert read("x.rs", source) == [
        ("comment", 1, "A module, on two lines."),
        ("comment", 3, "A doc comment with ¤."),
        ("comment", 5, "a comment after a quote"),
        ("string", 6, 'a text // that is \\"no\\" comment'),
        ("comment", 7, "outer /* nested one */ still a comment"),
        ("string", 8, 'raw "text" here'),
        ("string", 10, "first line and second ¤ line"),
        ("comment", 14, "one and two"),
        ("comment", 17, "apart"),
    ]


def test_rust_doc_comments_are_distinguished_from_others() -> None:
    source = "/// Doc.\n// Not.\n//! Inner.\n//// Not.\n/** Block. */\n"
    assert [one.doc for one in prose.passages(PurePath("x.rs"), source)] == [True, False, True, False, True]


def test_python_docstrings_comments_and_f_strings() -> None:
    source = '''"""The module.

>>> at.once
at once
"""

x: int = 3
"""About an attribute."""


def f(a: str) -> str:
    """Returns a text."""  # a comment
    # that is not
    # one line
    text = f"a text of {a['way back']} with a # inside"
    call(
        """A text, not a docstring.""",
        "a text on "
        "two lines",
    )
    return "it's joined, " + 'resent' + r"some raw \\d text" + b"bytes are no text".decode()
'''
    assert read("x.py", source) == [
        ("comment", 1, "The module. ¤"),
        ("comment", 8, "About an attribute."),
        ("comment", 12, "Returns a text."),
        ("comment", 12, "a comment that is not one line"),
        ("string", 15, "a text of ¤ with a # inside"),
        ("string", 17, "A text, not a docstring."),
        ("string", 18, "a text on two lines"),
        ("string", 21, "it's joined,"),
        ("string", 21, "some raw \\d text"),
    ]
    docs = [one.doc for one in prose.passages(PurePath("x.py"), source) if one.kind == "comment"]
    assert docs == [True, True, True, False]


def test_python_comments_match_the_tokenizer() -> None:
    for path in sorted((counts.ROOT / "python" / "lightlag" / "study").glob("*.py")):
        source = path.read_text("utf-8")
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        expected = [token.start[0] for token in tokens if token.type == tokenize.COMMENT]
        lines: list[int] = []
        for one in prose.passages(path, source):
            if one.kind == "comment" and not one.doc:
                lines += range(one.line, one.line + one.text.count("\n") + 1)
        assert lines == expected, path


def test_typescript_comments_strings_and_elements() -> None:
    source = """/**
 * About it, `code`.
 * @throws {Error} always
 */
const pattern = /"[^/"]*/.exec(x); // a comment
const text = `a text of ${[1].map((x) => `inner ${x}`)} ends`;
const none = "resent";
export const View = () => (
  <p class="way told" title="a title here">
    Text of an {element} that is shown
  </p>
);
"""
    assert read("x.tsx", source) == [
        ("comment", 1, "About it, ¤. ¤ always"),
        ("comment", 5, "a comment"),
        ("string", 6, "a text of ¤ ends"),
        ("string", 9, "a title here"),
        ("string", 9, "Text of an"),
        ("string", 10, "that is shown"),
    ]


@pytest.mark.parametrize("suffix", ["c", "cc", "h", "js", "css"])
def test_comments_of_c_scripts_and_style_sheets(suffix: str) -> None:
    source = """/* A first comment
 * goes over two lines. */
double rate; /* bytes per second */
"""
    assert read(f"x.{suffix}", source)[0] == ("comment", 1, "A first comment goes over two lines.")
    assert ("comment", 3, "bytes per second") in read(f"x.{suffix}", source)


def test_pages_without_code() -> None:
    source = """# A title

Text with `code` and a [link](way/back.md), <!-- a remark --> "The Title of a Paper".

    indented code

- an item

  its second paragraph

```sh
code at once
```

The end.
"""
    (page,) = prose.passages(PurePath("x.md"), source)
    lines = page.text.splitlines()
    assert lines[2] == "Text with ¤ and a [link¤, ¤ ¤."
    assert lines[4] == "¤"
    assert lines[8].strip() == "its second paragraph"
    assert lines[14] == "The end."
    assert "at once" not in page.text


def test_toml_comments_and_texts() -> None:
    source = 'key = "value"  # a comment\ntext = """\nSome text here."""\nother = "no # comment here"\n# one\n# more\n'
    assert read("x.toml", source) == [
        ("comment", 1, "a comment"),
        ("string", 2, "Some text here."),
        ("string", 4, "no # comment here"),
        ("comment", 5, "one more"),
    ]


def test_counts_fall_and_never_rise() -> None:
    limits: counts.Counts = {"README.md": {"page": 3}, "gone/area": {"comment": 2}}
    assert counts.lowered({"README.md": {"page": 1}}, limits) == {"README.md": {"page": 1}}
    assert counts.lowered({"new/area": {"comment": 2}}, limits) == {"new/area": {"comment": 2}}
    for counted in ({"README.md": {"page": 4}}, {"README.md": {"string": 1}}, {"new/area": {"comment": 3}}):
        with pytest.raises(ValueError, match="counts rise"):
            counts.lowered(counted, limits)


def test_images_that_changed_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*arguments: str) -> str:
        assert not arguments[-1].endswith(".png"), "an image is not text"
        return "docs/images/a.png\n" if arguments[0] == "diff" else "base"

    monkeypatch.setattr(counts, "_git", git)
    assert counts.added([], "docs", "page") == []
