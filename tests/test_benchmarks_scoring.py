"""Scores of the extraction benchmark: what counts as the same, as lost and as leaked."""

from __future__ import annotations

import pytest

from benchmarks.corpus import Gold, Page
from benchmarks.gold_element import gold_of_elements
from benchmarks.gold_markdown import gold_of_markdown
from benchmarks.mkdocs_build import commonmark
from benchmarks.outputs import code_lines, parts_of
from benchmarks.page_text import page_text
from benchmarks.scoring import Score, leaked_at, score
from benchmarks.sources import chosen
from benchmarks.tables import misses, percent, score_cells, table
from benchmarks.words import block_grams, compact, grams, words

TEXT = "one two three four five six"


def page(gold, html=b"<body><p>x</p></body>"):
    return Page("https://docs.test/", html, gold)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("It\u2019s \u201cso\u201d \u2013 really\u2026", 'It\'s "so" - really...'),
        (r"snake\_case \*args 1\. x", "snake_case *args 1. x"),
        ("**b**old and `co`de", "bold and code"),
        ('see [the `x` page](https://a.test/b_(c) "title")s', "see the x pages"),
        ("[![logo](l.png)](https://a.test/)", "logo"),
        ("a<br>b &amp; c", "a b & c"),
        ("```python\nx = 1\n```", "x = 1"),
        ("\ufb01le\u00a0name soft\u00adhyphen", "file name softhyphen"),
        ("list[int](x y)", "list[int](x y)"),
    ],
)
def test_same_words(text, same):
    assert words(text) == words(same)


@pytest.mark.parametrize(
    ("text", "other"),
    [("not now", "now"), ("version 1.2", "version 1.3"), ("--flag-a", "--flag-b")],
)
def test_other_words(text, other):
    assert words(text) != words(other)


def test_grams():
    assert grams(["a", "b", "c", "d", "e"]) == [("a", "b", "c", "d"), ("b", "c", "d", "e")]
    assert block_grams(["a b c d e", "f g"]).total() == 3
    assert block_grams(["", "- "]).total() == 0


@pytest.mark.parametrize(
    ("signature", "line"),
    [
        ("f(a: int) \u2192 str", "### `f(a: int) -> str`"),
        ("class m.C(*args)", r"**class** m.C(\*args)\xb6"),
        ("f(x)", "[f](https://a.test/#f)(x)"),
    ],
)
def test_same_signature(signature, line):
    assert compact(signature) in compact(line.replace(r"\xb6", "\xb6"))


@pytest.mark.parametrize(
    ("markdown", "hits"),
    [
        (TEXT, 3),
        ("one two three four five", 2),
        ("six five four three two one", 0),
        (f"{TEXT} {TEXT}", 3),
        ("", 0),
    ],
)
def test_main_words(markdown, hits):
    found = score(page(Gold([TEXT])), markdown)
    assert (found.hits["main"], found.wanted["main"]) == (hits, 3)


def test_words_that_stand_twice_count_twice():
    found = score(page(Gold([TEXT, TEXT])), TEXT)
    assert (found.hits["main"], found.wanted["main"]) == (3, 6)


@pytest.mark.parametrize(
    ("markdown", "hits"),
    [
        ("```py\nif x:\n    y()\n```", 2),
        ("- item\n\n  ```\n  if x:\n      y()\n  ```", 2),
        ("    if x:\n        y()", 2),
        ("```\nif x:\ny()\n```", 1),
        ("if x: y()", 0),
    ],
)
def test_code_lines(markdown, hits):
    found = score(page(Gold([], code=["  if x:\n      y()   \n\n"])), markdown)
    assert (found.hits["code"], found.wanted["code"]) == (hits, 2)


def test_lines_of_code():
    assert code_lines("    a\n\n      b  \r\n") == ["a", "  b"]


@pytest.mark.parametrize(
    ("markdown", "hits"),
    [
        ("| A | B |\n| --- | --- |\n| `x` | [y z](u) |", 4),
        ("| A | B |\n| --- | --- |\n| x y | z |", 2),
        ("A B\n\nx\n\ny z", 0),
    ],
)
def test_cells(markdown, hits):
    found = score(page(Gold([], rows=[["A", "B"], ["x", "y z"], ["", "-"]])), markdown)
    assert (found.hits["cells"], found.wanted["cells"]) == (hits, 4)


@pytest.mark.parametrize(
    ("heading", "hits"),
    [
        ("## Type *casting*", 1),
        ("## [Type casting](https://docs.test/#type)", 0),
        ("## Type casting \xb6", 0),
        ("**Type casting**", 0),
        ("```\n## Type casting\n```", 0),
    ],
)
def test_headings(heading, hits):
    found = score(page(Gold([], headings=["Type casting"])), heading)
    assert (found.hits["headings"], found.wanted["headings"]) == (hits, 1)


@pytest.mark.parametrize(
    ("markdown", "hits"),
    [("`f(a, b)`\n\ntext", 1), ("f(a,\n\nb)", 0), ("`f(a)`", 0)],
)
def test_signatures(markdown, hits):
    found = score(page(Gold([], signatures=["f(a, b)"])), markdown)
    assert (found.hits["signatures"], found.wanted["signatures"]) == (hits, 1)


@pytest.mark.parametrize(
    ("markdown", "leaked"),
    [
        (TEXT, ""),
        (f"Edit on GitHub now {TEXT}", "Edit on GitHub now"),
        ("one two three four Copy five six", ""),  # stands nowhere
        ("one two three four Copied one two three four", "Copied"),
        (f"{TEXT} something of its own", ""),
    ],
)
def test_leak(markdown, leaked):
    inside = "one two three four"
    body = f"<body><nav>Edit on GitHub now</nav><p>{TEXT}</p><p>{inside} Copied {inside}</p></body>"
    tokens = words(markdown)
    places = leaked_at(tokens, Gold([TEXT]), body.encode())
    assert " ".join(tokens[at] for at in places) == leaked


def test_shares_of_several_pages():
    total = Score()
    total.add(score(page(Gold([TEXT], code=["a\nb"])), TEXT))
    total.add(score(page(Gold([TEXT], code=["c\nd"])), "```\nc\nd\n```"))
    assert total.share("main") == total.share("code") == 0.5
    assert total.share("cells") is None
    assert misses(total) == ["main words 50.0 < 98.0", "code lines 50.0 < 98.0"]


@pytest.mark.parametrize(
    ("share", "text"),
    [(None, "-"), (1.0, "100.0"), (0.9999, "99.9"), (0.98, "98.0"), (0.9799, "97.9")],
)
def test_percent_never_rounds_up(share, text):
    assert percent(share) == text


def test_leak_never_rounds_down():
    assert score_cells(Score(leaked=2001, written=100_000))[-1] == "2.1"
    assert score_cells(Score(leaked=0, written=10))[-1] == "0.0"
    assert misses(Score(leaked=21, written=1000)) == ["leak 2.1 > 2.0"]


def test_table():
    assert table(["a", "b"], [["x", "1"]]) == "| a | b |\n| --- | ---: |\n| x | 1 |"


def test_parts_of_markdown():
    parts = parts_of("# A\n\n> ## B\n>\n> ```\n> x\n> ```\n\n| c |\n| --- |\n| d |")
    assert (parts.headings, parts.code, parts.rows) == (["A", "B"], ["x\n"], [["c"], ["d"]])


def test_text_of_a_page():
    html = "<body><script>no</script><b>f</b>oo<p>bar<br>baz<img alt=pic></p></body>"
    assert page_text(html.encode()).split() == ["foo", "bar", "baz", "pic"]


def test_gold_of_markdown_with_the_boxes_of_python_markdown():
    source = '## T {: #t }\n\n!!! note "Look"\n    Text\n\n    ```py title="a.py"\n    x\n    ```\n'
    gold = gold_of_markdown(commonmark(source))
    assert gold.headings == ["T"]
    assert gold.code == ["x\n"]
    assert gold.text == ["T", "Look", "Text", "a.py", "x\n"]


def test_gold_of_elements():
    html = (
        "<main><h1>T<a>\xb6</a></h1><dl><dt>f(x)</dt></dl><table><tr><td>c</td></tr></table></main>"
    )
    gold = gold_of_elements(html.encode(), "main", drop=["h1 a"], signatures="dt")
    assert gold is not None
    assert gold.headings == ["T"]
    assert (gold.signatures, gold.rows) == (["f(x)"], [["c"]])


def test_pages_are_spread_and_short_ones_left_out():
    pages = [Page(f"u{n:02}", b"", Gold(["word " * (100 if n % 2 else 9)])) for n in range(20)]
    assert [page.url for page in chosen(pages, 5)] == ["u01", "u05", "u09", "u13", "u17"]
    assert len(chosen(pages[:3], 5)) == 3
