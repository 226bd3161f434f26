"""Lists and definition lists."""

from __future__ import annotations

import pytest

from freshcrawl.extract import extract

URL = "https://docs.test/page.html"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<ul><li>a</li><li><p>b</p></li></ul>", "- a\n- b"),
        ("<ol><li>a</li><li>b</li></ol>", "1. a\n2. b"),
        ("<ol start='9'><li>a</li><li>b</li></ol>", "9. a\n10. b"),
        ("<ul><li>a<ul><li>b<ol><li>c</li></ol></li></ul></li></ul>", "- a\n  - b\n    1. c"),
        ("<ol start='10'><li>a<ul><li>b</li></ul></li></ol>", "10. a\n    - b"),
        ("<ul><li>a</li><ul><li>b</li></ul></ul>", "- a\n  - b"),
        ("<ul><li><p>a</p><p>b</p></li><li>c</li></ul>", "- a\n\n  b\n- c"),
        ("<ul><li>run:<pre>x\n\n  y</pre>then</li></ul>",
         "- run:\n\n  ```\n  x\n\n    y\n  ```\n\n  then"),
        ("<ul><li></li><li>only</li></ul>", "- only"),
        ("<ul></ul>", ""),
        ("<ul class='contains-task-list'><li class='task-list-item'><input type='checkbox' checked>"
         "done</li><li class='task-list-item'><input type='checkbox'>open</li></ul>",
         "- [x] done\n- [ ] open"),
        ("<ul><li><h3>Name</h3><p>Text</p></li></ul>", "### Name\n\nText"),
        ("<ul><li><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table></li>"
         "</ul>", "- | a | b |\n  | --- | --- |\n  | 1 | 2 |"),
    ],
)  # fmt: skip
def test_list(html, markdown):
    assert extract(html, URL).markdown == markdown


def test_a_nested_list_is_one_block_with_its_links():
    html = "<ul><li><a href='a'>a</a><ul><li>b</li></ul></li></ul>"
    (block,) = extract(html, URL).blocks
    assert (block.kind, block.text, block.bare) == (
        "list", "- [a](https://docs.test/a)\n  - b", "- a\n  - b",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<dl><dt>term</dt><dd>Body</dd></dl>", "**term**\n\nBody"),
        ("<dl><dt>a</dt><dt>b</dt><dd><p>x</p><pre>y</pre></dd></dl>",
         "**a**\n\n**b**\n\nx\n\n```\ny\n```"),
        ("<dl><div><dt>a</dt><dd>x</dd></div></dl>", "**a**\n\nx"),
        ("<dl><dt><strong>x</strong><span class='classifier'>int</span></dt><dd>y</dd></dl>",
         "**x** : int\n\ny"),
        ("<dl class='field-list'><dt>Parameters<span class='colon'>:</span></dt><dd>p</dd></dl>",
         "**Parameters:**\n\np"),
        ("<dl><dt></dt><dd>x</dd></dl>", "x"),
        ("<dl><dt><p>a</p></dt><dd>x</dd></dl>", "a\n\nx"),
    ],
)  # fmt: skip
def test_definitions(html, markdown):
    assert extract(html, URL).markdown == markdown


def test_glossary_terms_have_anchors_and_titles():
    html = (
        "<dl class='glossary'><dt id='term-ACID'>ACID<a class='headerlink' href='#term-ACID'>"
        "\u00b6</a></dt><dt id='term-x'><em>x</em></dt><dd><p>Four words.</p></dd></dl>"
    )
    blocks = extract(html, URL).blocks
    assert [(b.kind, b.text, b.anchor, b.title) for b in blocks] == [
        ("paragraph", "**ACID**", "term-ACID", "ACID"),
        ("paragraph", "***x***", "term-x", "x"),
        ("paragraph", "Four words.", "", ""),
    ]
