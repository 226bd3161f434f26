"""Admonitions, quotes, disclosures and tab sets."""

# ruff: noqa: E501  (markup is easier to compare in one piece)
from __future__ import annotations

import pytest

from freshcrawl.extract import extract

URL = "https://docs.test/page.html"
NOTE = "> **Note**\n>\n> Mind the gap."


@pytest.mark.parametrize(
    "html",
    [
        "<div class='admonition note'><p class='admonition-title'>Note</p><p>Mind the gap.</p></div>",
        "<div class='admonition note'><p class='first admonition-title'>Note:</p>"
        "<p class='last'>Mind the gap.</p></div>",
        "<div class='theme-admonition theme-admonition-note admonition_x alert'><div class="
        "'admonitionHeading_y'>Note</div><div class='admonitionContent_z'><p>Mind the gap.</p></div>"
        "</div>",
        "<div class='custom-block note'><p class='custom-block-title'>Note</p><p>Mind the gap.</p>"
        "</div>",
        "<div class='alert alert-primary'><h4 class='alert-heading'>Note</h4><p>Mind the gap.</p>"
        "</div>",
        "<div class='markdown-alert markdown-alert-note'><p class='markdown-alert-title'>Note</p>"
        "<p>Mind the gap.</p></div>",
        "<div class='alert alert-note'><blockquote><p class='alert-title'>Note</p>"
        "<p>Mind the gap.</p></blockquote></div>",
        "<div class='admonitionblock note'><table><tr><td class='icon'><div class='title'>Note</div>"
        "</td><td class='content'><div class='paragraph'><p>Mind the gap.</p></div></td></tr></table>"
        "</div>",
        "<div class='note'><h3 class='title'>Note</h3><p>Mind the gap.</p></div>",
        "<div class='note'><p>Mind the gap.</p></div>",
        "<div class='hint-container note'><p class='hint-container-title'>Note</p><p>Mind the gap.</p>"
        "</div>",
        "<aside class='starlight-aside' aria-label='Note'><p aria-hidden='true'>Note</p>"
        "<div class='starlight-aside__content'><p>Mind the gap.</p></div></aside>",
        "<details class='note'><summary>Note</summary><p>Mind the gap.</p></details>",
    ],
    ids=["sphinx", "docutils", "docusaurus", "vitepress", "docsy", "github", "mdbook", "antora",
         "docbook", "untitled", "vuepress", "starlight", "mkdocs-details"],
)  # fmt: skip
def test_admonition(html):
    (block,) = extract(html, URL).blocks
    assert (block.kind, block.text) == ("admonition", NOTE)


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<div class='versionadded'><p><span class='versionmodified added'>Added in version 1.4: "
         "</span>The flag.</p></div>", "> Added in version 1.4: The flag."),
        ("<aside class='sidebar'><p class='sidebar-title'>Best</p><p>x</p></aside>",
         "> **Best**\n>\n> x"),
        ("<div class='topic'><p class='topic-title'>About</p><p>x</p></div>",
         "> **About**\n>\n> x"),
        ("<div class='admonition tip'><p class='admonition-title'>Tip</p><p>Run</p><pre>a\nb</pre>"
         "<p>now</p></div>", "> **Tip**\n>\n> Run\n\n```\na\nb\n```\n\n> now"),
        ("<div class='note'><h1>A page</h1><p>x</p></div>", "# A page\n\nx"),
        ("<blockquote><p>a</p><ul><li>b</li></ul></blockquote>", "> a\n>\n> - b"),
        ("<blockquote><div><pre>x</pre></div></blockquote>", "```\nx\n```"),
        ("<details><summary>More</summary><p>x</p></details>", "**More**\n\nx"),
    ],
)  # fmt: skip
def test_boxes_and_quotes(html, markdown):
    # A theme's own rule, since a sidebar of an unknown theme is none of the content.
    assert extract(f"<div id='docs-body'>{html}</div>", URL).markdown == markdown


TABS = "**Linux**\n\napt\n\n**macOS**\n\nbrew"


@pytest.mark.parametrize(
    "html",
    [
        # Docusaurus hides the panels that are not chosen
        "<div class='tabs-container'><ul role='tablist' class='tabs'><li role='tab'>Linux</li>"
        "<li role='tab'>macOS</li></ul><div><div role='tabpanel'><p>apt</p></div>"
        "<div role='tabpanel' hidden><p>brew</p></div></div></div>",
        # mkdocs-material
        "<div class='tabbed-set'><input type='radio'><input type='radio'><div class='tabbed-labels'>"
        "<label>Linux</label><label>macOS</label></div><div class='tabbed-content'>"
        "<div class='tabbed-block'><p>apt</p></div><div class='tabbed-block'><p>brew</p></div></div>"
        "</div>",
        # sphinx-tabs
        "<div class='sphinx-tabs'><div role='tablist'><button role='tab'>Linux</button>"
        "<button role='tab'>macOS</button></div><div class='sphinx-tabs-panel' role='tabpanel'>"
        "<p>apt</p></div><div class='sphinx-tabs-panel' role='tabpanel' hidden='true'><p>brew</p>"
        "</div></div>",
        # Antora
        "<div class='tabs'><ul class='tablist'><li class='tab'>Linux</li><li class='tab'>macOS</li>"
        "</ul><div class='tabpanel'><p>apt</p></div><div class='tabpanel'><p>brew</p></div></div>",
    ],
    ids=["docusaurus", "mkdocs-material", "sphinx-tabs", "antora"],
)
def test_each_tab_is_under_its_label(html):
    assert extract(html, URL).markdown == TABS


def test_code_group_of_vitepress():
    html = (
        "<div class='vp-code-group'><div class='tabs'><input type='radio'><label>npm</label>"
        "<input type='radio'><label>pnpm</label></div><div class='blocks'>"
        "<div class='language-sh active'><pre>npm i</pre></div>"
        "<div class='language-sh'><pre>pnpm i</pre></div></div></div>"
    )
    expected = "**npm**\n\n```sh\nnpm i\n```\n\n**pnpm**\n\n```sh\npnpm i\n```"
    assert extract(html, URL).markdown == expected


def test_tabs_without_panels_are_dropped():
    html = "<ul role='tablist'><li role='tab'>A</li></ul><p>text</p>"
    assert extract(html, URL).markdown == "text"
