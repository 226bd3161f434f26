"""What is taken out of main content, and what only looks as if it should be."""

from __future__ import annotations

import pytest

from freshcrawl.extract import extract

URL = "https://docs.test/page.html"


def in_theme(html):
    return extract(f"<body><div id='docs-body'>{html}</div></body>", URL).markdown


def in_unknown(html):
    return extract(f"<body>{html}</body>", URL).markdown


@pytest.mark.parametrize(
    "noise",
    [
        "<script>x()</script>",
        "<style>p{}</style>",
        "<noscript>Enable JavaScript</noscript>",
        "<template><p>x</p></template>",
        "<nav><a href='x'>Home</a></nav>",
        "<div role='navigation'>Home</div>",
        "<footer>Copyright</footer>",
        "<button>Copy</button>",
        "<form><input type='search'><p>Search</p></form>",
        "<svg><text>x</text></svg>",
        "<iframe>x</iframe>",
        "<div hidden>x</div>",
        "<i aria-hidden='true'>icon</i>",
        "<p style='display:none'>x</p>",
        "<nav class='contents local'><ul><li>toc</li></ul></nav>",
        "<div class='contents topic'><p class='topic-title'>Contents</p></div>",
        "<ul class='breadcrumbs'><li>Docs</li></ul>",
        "<a class='viewcode-link' href='s'>[source]</a>",
        "<p><a href='#fnref-1'>\u21a9</a></p>",
        "<a href='edit'>Edit this page</a>",
        "<p><a href='_sources/x.txt'>View page source</a></p>",
        "<span class='theme-doc-version-badge'>Version: 2.1</span>",
        "<div class='theme-last-updated'>Last updated on Jan 1</div>",
        "<div class='lastUpdated_JAkA'>Jan 1</div>",
        "<h2 class='feedback--title'>Feedback</h2>",
        "<div class='edit-page'><a href='e'>GitHub</a></div>",
        "<div class='tocCollapsible_ETCw'>On this page</div>",
        "<div class='prev-next-area'>previous</div>",
        "<div class='docs-navigation-links'>Previous: x</div>",
        "<p class='copyright'>2025</p>",
        "<span class='sr-only'>Section titled</span>",
        "<div class='dynheader'>Inheritance diagram for X:</div>",
        "<div class='language-sh'><button>Copy</button><span class='lang'>sh</span></div>",
        "<p><img src='closed.png' alt='-'></p>",
    ],
)
def test_noise_anywhere(noise):
    assert in_theme(f"<p>Before.</p>{noise}<p>After.</p>") == "Before.\n\nAfter."


@pytest.mark.parametrize(
    "noise",
    [
        "<header><a href='/'>The site</a></header>",
        "<header><h1><a href='/'>The site</a></h1></header>",
        "<aside>Related</aside>",
        "<div class='sidebar'>Menu</div>",
        "<div id='sidebar'>Menu</div>",
        "<div id='footer'>Copyright</div>",
        "<ul class='menu'><li>Home</li></ul>",
        "<article><aside>See <a href='a'>another page</a></aside></article>",
        "<article><aside><p>Stay informed.</p><form><input></form></aside></article>",
    ],
)
def test_noise_where_no_generator_is_known(noise):
    assert in_unknown(f"{noise}<p>Text.</p>") == "Text."


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<section id='comments'><h2>Comments</h2></section>", "## Comments"),
        ("<div class='section' id='sidebar'><h2>Sidebar</h2></div>", "## Sidebar"),
        ("<h2 id='footer'>Footer</h2>", "## Footer"),
        ("<header><h1>Title</h1></header>", "# Title"),
        ("<article><header><h1>Title</h1></header></article>", "# Title"),
        ("<aside class='note'><p>x</p></aside>", "> **Note**\n>\n> x"),
        ("<form><h2>A page in a form</h2></form>", "## A page in a form"),
        ("<div hidden='until-found'>x</div>", "x"),
        ("<article><aside>What this page is about.</aside></article>", "What this page is about."),
        ("<blockquote><p>x</p><footer>Someone</footer></blockquote>", "> x\n>\n> Someone"),
        ("<figure><p>x</p><footer>Someone</footer></figure>", "x\n\nSomeone"),
        ("<footer class='footnotes'><p>A note.</p></footer>", "A note."),
        ("<footer><section role='doc-endnotes'><p>A note.</p></section></footer>", "A note."),
        ("<footer><pre>make install</pre></footer>", "```\nmake install\n```"),
        ("<p><span class='lang'>sh</span></p>", "sh"),
        ("<p><img src='x.png' alt='A'></p>", "![A](https://docs.test/x.png)"),
        ("<h2>Copyright</h2>", "## Copyright"),
        ("<h6>Last updated by hand</h6>", "###### Last updated by hand"),
        ("<p>Use <a href='#x'>#</a> here</p>", "Use [#](https://docs.test/page.html#x) here"),
        ("<div class='wrap'>tail<script></script> kept</div>", "tail kept"),
    ],
)
def test_content_that_looks_like_noise(html, markdown):
    assert in_unknown(html) == markdown


def test_a_sphinx_sidebar_is_content():
    html = "<aside class='sidebar'><p class='sidebar-title'>T</p><p>x</p></aside>"
    assert in_theme(html) == "> **T**\n>\n> x"


@pytest.mark.parametrize(
    "line",
    [
        "Last updated: 2025-01-01 10:00",
        "Copyright 2007-2025 the authors",
        "\u00a9 2025",
        "Generated on: 2025-06-26.",
        "Created using Sphinx 8.2.3.",
        "Documentation last generated: Mon 11 Aug 2025",
        "Copyright the Mako authors. All rights reserved.",
        "Powered by Hugo and Docsy.",
    ],
)
def test_build_facts_at_the_ends_of_an_unknown_page(line):
    assert in_unknown(f"<p>Text.</p><p>{line}</p>") == "Text."
    assert in_unknown(f"<p>{line}</p><p>Text.</p>") == "Text."
    assert in_unknown(f"<p>Text.</p><p>{line}</p><p>More.</p>") == f"Text.\n\n{line}\n\nMore."
    assert in_theme(f"<p>Text.</p><p>{line}</p>") == f"Text.\n\n{line}"


@pytest.mark.parametrize(
    "line",
    [
        "Copyright notices must stay in place.",
        "Copyright is held by whoever wrote the text.",
        "Last updated rows are listed first.",
        "Generated by the build step, the file is then read by the server at its next start.",
        "Built with care, the package needs no compiler on the machine that installs it.",
        "The page was last updated on 3 May 2024.",
        "Released on 2024-05-03.",
    ],
)
def test_prose_at_the_ends_of_an_unknown_page_is_content(line):
    assert in_unknown(f"<p>Text.</p><p>{line}</p>") == f"Text.\n\n{line}"
    assert in_unknown(f"<p>{line}</p><p>Text.</p>") == f"{line}\n\nText."


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<h1><span>npm-audit</span> <span class='version'>@11.6.0</span></h1>", "# npm-audit"),
        ("<h1>Guide <small><span class='version'>v2.0-rc1</span></small></h1>", "# Guide"),
        # content: without its number the title would say another thing
        ("<h1>Release <span class='version'>3.1</span></h1>", "# Release 3.1"),
        ("<h1><span class='version'>v3.1</span></h1>", "# v3.1"),
        ("<h2>Since <span class='version'>v3.1</span></h2>", "## Since v3.1"),
    ],
)
def test_release_beside_the_title_of_an_unknown_page(html, title):
    assert in_unknown(f"{html}<p>Text.</p>") == f"{title}\n\nText."


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ("<ul><li><a href='#a'>A</a><ul><li><a href='#b'>B c</a></li></ul></li></ul>", False),
        ("<ol><li><a href='#'>Top</a></li> <li><p> <a href='#b'>B</a></p></li></ol>", False),
        ("<ul><li><a href='#a'>A</a></li></ul>", True),
        ("<ul><li><a href='#a'>A</a></li><li><a href='b.html'>B</a></li></ul>", True),
        ("<ul><li><a href='#a'>A</a>: says why</li><li><a href='#b'>B</a></li></ul>", True),
        ("<ul><li>A</li><li>B</li></ul>", True),
    ],
)
def test_contents_of_the_page_itself_on_an_unknown_page(html, kept):
    assert (in_unknown(f"<p>Text.</p>{html}") != "Text.") is kept
    assert in_theme(f"<p>Text.</p>{html}") != "Text."


def test_a_build_fact_set_as_a_heading():
    assert in_unknown("<p>Text.</p><h6>Last updated: February 1, 2017</h6>") == "Text."


def test_a_category_above_the_title_of_an_unknown_page():
    html = (
        "<article><header><a href='c'>CATEGORY</a><h1>T</h1><a href='b'>by x</a></header></article>"
    )
    assert in_unknown(html) == "# T\n\n[by x](https://docs.test/b)"
