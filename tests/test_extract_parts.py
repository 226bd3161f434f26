"""Parts of the pages of certain generators: titles outside of the content, tabs, folded rows."""

# ruff: noqa: E501  (markup is easier to compare in one piece)
from __future__ import annotations

import pytest

from freshcrawl.extract import extract

URL = "https://docs.test/page.html"


def test_parts_of_a_manual_page_of_asciidoc():
    html = (
        "<meta name='generator' content='Asciidoctor 2.0'><div id='header'><h1>git-add(1)</h1>"
        "<h2>NAME</h2><p>git-add - Add</p></div><div id='content'><h2>SYNOPSIS</h2><p>git add</p></div>"
        "<div id='footnotes'><div class='footnote'>1. A note.</div></div><div id='footer'>x</div>"
    )
    assert extract(html, URL).markdown == (
        "# git-add(1)\n\n## NAME\n\ngit-add - Add\n\n## SYNOPSIS\n\ngit add\n\n1. A note."
    )


TWO_TITLES = """
    <html><head><title>{name} | Docs</title></head><body><article class="post"><header class="post-header">
    <h1 class="post-title">Fetch</h1></header><div class="post-content">{content}</div></article></body></html>
"""


@pytest.mark.parametrize(
    ("name", "content", "markdown"),
    [
        ("Fetch", "<p>Text.</p><h1>More</h1>", "# Fetch\n\nText.\n\n# More"),
        ("Fetch", "<h1>Fetch</h1><p>Text.</p>", "# Fetch\n\nText."),
        ("Other", "<p>Text.</p><h1>More</h1>", "Text.\n\n# More"),
    ],
)
def test_a_title_outside_of_content_with_a_first_level_heading(name, content, markdown):
    assert extract(TWO_TITLES.format(name=name, content=content), URL).markdown == markdown


def test_inherited_members_of_doxygen_are_told_from_the_own_ones():
    html = """
        <meta name="generator" content="Doxygen 1.9.4"><div id="doc-content"><div class="contents">
        <table class="memberdecls"><tr class="heading"><td colspan="2"><h2>Functions</h2></td></tr>
        <tr class="memitem"><td>int</td><td>own ()</td></tr>
        <tr class="inherit_header"><td colspan="2"><img src="closed.png" alt="-">&#160;Functions inherited from
        <a href="b">Base</a></td></tr><tr class="memitem inherit"><td>int</td><td>base ()</td></tr></table>
        </div></div>"""
    assert extract(html, URL).markdown.split("\n") == [
        "## Functions", "", "|  |  |", "| --- | --- |", "| int | own () |",
        "| Functions inherited from [Base](https://docs.test/b) |  |", "| int | base () |",
    ]  # fmt: skip


def test_a_tab_pane_of_docsy():
    html = """
        <div class="td-content"><ul class="nav nav-tabs" id="tabs-0" role="tablist">
        <li class="nav-item"><button class="nav-link active" role="tab">Go</button></li>
        <li class="nav-item"><button class="nav-link" role="tab">Rust</button></li></ul>
        <div class="tab-content"><div class="tab-pane fade show active" role="tabpanel"><p>go run</p></div>
        <div class="tab-pane fade" role="tabpanel"><p>cargo run</p></div></div></div>"""
    assert extract(html, URL).markdown == "**Go**\n\ngo run\n\n**Rust**\n\ncargo run"


def test_a_folded_tree_of_doxygen_is_whole():
    html = """
        <meta name="generator" content="Doxygen 1.9.4"><div id="doc-content"><div class="contents">
        <div class="directory"><div class="levels">[detail level 12]</div><table class="directory">
        <tr><td class="entry"><span class="arrow">&#9658;</span><span class="icona"><span class="icon">N</span></span>
        <a href="n">A</a></td><td class="desc">Outer</td></tr><tr style="display:none;"><td class="entry">
        <a href="b">B</a></td><td class="desc">Inner</td></tr></table></div></div></div>"""
    assert [row.split(" | ")[1] for row in extract(html, URL).markdown.split("\n")[2:]] == [
        "Outer |", "Inner |",
    ]  # fmt: skip


def test_code_tabs_of_vuepress_have_one_label_each():
    panels = "".join(
        f"<div class='vp-code-tab' role='tabpanel'><div class='vp-code-tab-title'>{name}</div>"
        f"<pre><code>{name} install</code></pre></div>"
        for name in ("npm", "yarn")
    )
    html = (
        "<main class='vp-page'><div class='vp-code-tabs'><div class='vp-code-tabs-nav' role='tablist'>"
        f"<button role='tab'>npm</button><button role='tab'>yarn</button></div>{panels}</div></main>"
    )
    assert extract(html, URL).markdown == (
        "**npm**\n\n```\nnpm install\n```\n\n**yarn**\n\n```\nyarn install\n```"
    )
