"""The whole of `extract`: a site's own selectors, index pages, odd input, determinism."""

# ruff: noqa: E501  (markup is easier to compare in one piece)
from __future__ import annotations

import os
import subprocess
import sys

import pytest

from freshcrawl.core.blocks import Document
from freshcrawl.extract import EXTRACTOR_VERSION, extract

URL = "https://docs.test/page.html"
PAGE = """
<body><div id='docs-body'><h1>Title</h1><p class='promo'>Buy</p><p>Text.</p></div>
<div class='extra'><p>Extra.</p></div></body>
"""


@pytest.mark.parametrize(
    ("keep", "drop", "markdown", "generator"),
    [
        ((), (), "# Title\n\nBuy\n\nText.", "sphinx-docs-body"),
        ((), (".promo",), "# Title\n\nText.", "sphinx-docs-body"),
        ((".extra",), (), "# Title\n\nExtra.", "keep"),
        ((".extra", "#docs-body"), ("p.promo",), "# Title\n\nText.\n\nExtra.", "keep"),
        (("#docs-body", "#docs-body p"), (), "# Title\n\nBuy\n\nText.", "keep"),
        ((".nowhere",), (), "# Title\n\nBuy\n\nText.", "sphinx-docs-body"),
        (("h1",), (), "# Title", "keep"),
        ((), ("body",), "", "body"),
    ],
)
def test_selectors_of_a_site(keep, drop, markdown, generator):
    document = extract(PAGE, URL, keep=keep, drop=drop)
    assert (document.markdown, document.generator) == (markdown, generator)


@pytest.mark.parametrize("option", ["keep", "drop"])
def test_a_selector_that_is_no_css_is_named(option):
    with pytest.raises(ValueError, match=r"not a CSS selector: 'p\[\['"):
        extract(PAGE, URL, **{option: ["p[["]})


@pytest.mark.parametrize(
    "main",
    [
        "<h1 id='index'>Index</h1><table class='indextable genindextable'><tr><td>x</td></tr></table>",
        "<h1 id='index'>Index</h1><div class='genindex-jumpbox'>A</div>",
        "<h1>Python Module Index</h1><div class='modindex-jumpbox'>a</div>",
        "<h1>Search</h1><div id='search-results'></div>",
        "<h1>All modules for which code is available</h1><ul><li>a</li></ul>",
    ],
)
def test_index_pages(main):
    assert extract(f"<div id='docs-body'>{main}</div>", URL).index_page


def test_a_page_about_an_index_is_none():
    html = "<div id='docs-body' class=' index'><h1 id='index'>Index</h1><p>Text</p></div>"
    assert not extract(html, URL).index_page


def test_a_stub_does_not_fall_through_to_the_body():
    html = (
        "<body><div id='docs-body'><p>Moved!</p></div>"
        "<div id='note'>Documentation last generated: Mon 11 Aug 2025, by a long line</div></body>"
    )
    assert extract(html, URL).markdown == "Moved!"


@pytest.mark.parametrize(
    "body",
    ["", "  \n ", b"", "\x00\x00", "<!-- only -->", "<!DOCTYPE html>", "<?php ?>",
     "<frameset><frame src='x'></frameset>"],
)  # fmt: skip
def test_nothing_gives_an_empty_document(body):
    document = extract(body, URL)
    assert (document.blocks, document.links, document.title) == ([], [], "")
    assert isinstance(document, Document)


@pytest.mark.parametrize(
    ("body", "markdown"),
    [
        ("just text", "just text"),
        ('{"a": 1}', '{"a": 1}'),
        ("<p>a\x00b\x08</p>", "ab"),
        ("<?xml version='1.0' encoding='utf-16'?><html><body><p>x</p></body></html>", "x"),
        ("<?php x ?><p>a<!-- c -->b<?pi d?></p>", "ab"),
        ("<p>\ud800</p>", "?"),
        ("<p>marks \ufdd0a\ufdd2b\ufdd3</p>", "marks ab"),
        ("<p>unclosed <b>bold", "unclosed **bold**"),
        ("<svg:rect></svg:rect><p>x</p>", "x"),
        ("<p>caf\u00e9</p>".encode(), "caf\u00e9"),
        ("<meta charset='latin-1'><p>caf\u00e9</p>".encode("latin-1"), "caf\u00e9"),
    ],
)
def test_odd_input(body, markdown):
    assert extract(body, URL).markdown == markdown


@pytest.mark.parametrize(
    "opening",
    ["<div>", "<b>", "<span><div>", "<ul><li>", "<ul>", "<blockquote>", "<dl><dt class='sig'>", "<dl><dd>",
     "<table><tr><td>", "<details><summary>", "<div class='note'>", "<pre>", "<a href='x'>"],
)  # fmt: skip
@pytest.mark.parametrize("depth", [70, 3000])
def test_deep_nesting(opening, depth):
    document = extract(f"<body><p>Start.</p>{opening * depth}deep</body>", URL)
    assert document.blocks[0].text == "Start."
    if depth < 100:
        assert "deep" in document.markdown


def test_output_does_not_depend_on_the_hash_seed():
    code = (
        "from freshcrawl.extract import extract\n"
        f"d = extract({PAGE + PAGE!r}, {URL!r}, keep=['.extra', 'h1', 'p'])\n"
        "print(repr(d))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "42")
    }
    assert len(outputs) == 1
    assert b"Extra." in outputs.pop()


def test_version_is_a_positive_number():
    assert EXTRACTOR_VERSION >= 1
