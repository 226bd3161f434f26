"""Headings: level, anchor, title, and the title of the page."""

from __future__ import annotations

import pytest

from freshcrawl.extract import extract

URL = "https://docs.test/page.html"
BODY = "<p>Some text that is here.</p>"


@pytest.mark.parametrize(
    ("html", "text", "level", "anchor", "title"),
    [
        ("<h2 id='own'>Own <code>id</code></h2>", "## Own `id`", 2, "own", "Own id"),
        ("<section id='sec'><span id='old'></span><h1>In section"
         "<a class='headerlink' href='#sec'>\u00b6</a></h1></section>",
         "# In section", 1, "sec", "In section"),
        ("<div class='section' id='sec'><h3>Docutils</h3></div>", "### Docutils", 3, "sec",
         "Docutils"),
        ("<h2><a name='old'></a>Named</h2>", "## Named", 2, "old", "Named"),
        ("<a id='before'></a><h2>Anchored</h2>", "## Anchored", 2, "before", "Anchored"),
        ("<div class='sect1' id='s'><div class='titlepage'><div><div><h2>DocBook</h2></div></div>"
         "</div></div>", "## DocBook", 2, "s", "DocBook"),
        ("<h1 id='t'><a class='header' href='#t'>mdBook</a></h1>", "# mdBook", 1, "t", "mdBook"),
        ("<h2 id='t'>VitePress <a class='header-anchor' href='#t'>\u200b</a></h2>",
         "## VitePress", 2, "t", "VitePress"),
        ("<h3 id='link'><a class='header-anchor' href='#link'><span>link</span></a></h3>",
         "### link", 3, "link", "link"),
        ("<h2><a class='anchor' href='#gh'><svg></svg></a>GitHub</h2>", "## GitHub", 2, "gh",
         "GitHub"),
        ("<h3 id='x'>C#</h3>", "### C#", 3, "x", "C#"),
        ("<h3>Two<br>lines</h3>", "### Two lines", 3, "", "Two lines"),
        ("<h2><a href='other.html'>Linked</a></h2>", "## Linked", 2, "", "Linked"),
        ("<section id='s'><p>text</p><h4>Later</h4></section>", "#### Later", 4, "", "Later"),
    ],
)  # fmt: skip
def test_heading(html, text, level, anchor, title):
    block = next(b for b in extract(html, URL).blocks if b.kind == "heading")
    found = (block.text, block.bare, block.level, block.anchor, block.title)
    assert found == (text, "", level, anchor, title)


def test_empty_heading_is_no_block():
    assert extract("<h2><a class='headerlink' href='#x'>\u00b6</a></h2>", URL).blocks == []


@pytest.mark.parametrize(
    ("outside", "first"),
    [
        ("<h1>Page title</h1>", "# Page title"),
        ("<header><h1>Page title</h1></header>", "# Page title"),
        ("<header><h1><a href='/'>The site</a></h1></header>", "## Inside"),
        ("<h1><a href='index.html'>The site</a></h1>", "## Inside"),
        ("<nav><h1>The site</h1></nav>", "## Inside"),
        ("<div id='docs-header'><h1>Docs 1.3.8</h1></div>", "## Inside"),
        ("<h1>One</h1><h1>Two</h1>", "## Inside"),
    ],
)
def test_title_outside_of_the_main_element(outside, first):
    main = f"<div id='docs-body'><h2>Inside</h2>{BODY}</div>"
    html = f"<head><title>A - B</title></head><body>{outside}{main}</body>"
    assert extract(html, URL).markdown.split("\n")[0] == first


def test_no_title_is_added_to_a_page_that_starts_with_its_own_name():
    html = (
        "<title>Variables - The Book</title><h1>The Book</h1>"
        f"<div id='docs-body'><h2>Variables</h2>{BODY}</div>"
    )
    assert extract(html, URL).markdown.startswith("## Variables")


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>T</title><h1>Heading <code>x</code></h1>", "Heading x"),
        ("<title> Engines \u2014 SQLAlchemy 2.0 </title><p>x</p>", "Engines"),
        ("<title>Engines | Docs</title><p>x</p>", "Engines"),
        ("<title>well-known</title><p>x</p>", "well-known"),
        ("<p>x</p>", ""),
    ],
)
def test_title_of_the_document(html, title):
    assert extract(html, URL).title == title


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        # docutils: titles that lead back to the table of contents
        (
            "<h2><a class='toc-backref' href='#id3' role='doc-backlink'>Type casting</a>"
            "<a class='headerlink' href='#type'>¶</a></h2><p>x</p>",
            "## Type casting\n\nx",
        ),
        # docutils: a footnote's label, and the list of places that refer to it
        (
            "<aside class='footnote' role='doc-footnote'><span class='label'><span>[</span>"
            "<a role='doc-backlink' href='#id1'>1</a><span>]</span></span><span class='backrefs'>"
            "(<a role='doc-backlink' href='#id1'>1</a>,<a role='doc-backlink' href='#id3'>2</a>)"
            "</span><p>Text.</p></aside>",
            "[1]\n\nText.",
        ),
        ("<p>Note.<a role='doc-backlink' href='#fnref1'>↩︎</a></p>", "Note."),
    ],
)
def test_links_back(html, expected):
    assert extract(f"<div id='docs-body'>{html}</div>", URL).markdown == expected
