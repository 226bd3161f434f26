"""Pages of each generator: which rule finds the main element, and nothing else is in it."""

# ruff: noqa: E501  (markup is easier to compare in one piece)
from __future__ import annotations

import pytest

from freshcrawl.extract import extract

URL = "https://docs.test/page.html"
LONG = "Text that is long enough to be told from a stub, a teaser or an empty shell."

PAGES = {
    "sphinx-docs-body": """
        <div id="docs-header"><h1><a href="index.html">Docs 2.0</a></h1>
        <div id="docs-version-header">Release: <span class="version-num">2.0.43</span></div></div>
        <div id="docs-body" role="main" class="withsidebar"><section id="title"><span id="t"></span>
        <h1>Title<a class="headerlink" href="#title">\u00b6</a></h1><p>Text.</p></section></div>
        <div id="docs-bottom-navigation">Previous: <a href="x">x</a><div id="docs-copyright">2025</div></div>""",
    "sphinx-furo": """
        <aside class="sidebar-drawer"><a href="i">Docs</a></aside><div class="page"><div class="content">
        <div class="article-container"><a href="#" class="back-to-top">Back to top</a>
        <div class="content-icon-container"><div class="edit-this-page"><a href="e">Edit</a></div></div>
        <article role="main" id="furo-main-content"><section id="title"><h1>Title
        <a class="headerlink" href="#title">\u00b6</a></h1><p>Text.</p></section></article></div>
        <footer><div class="related-pages">Next</div></footer></div></div>""",
    "sphinx-pydata": """
        <main id="main-content" class="bd-main" role="main"><div class="bd-content">
        <div class="bd-header-article">breadcrumbs</div><div id="jb-print-docs-body"><h1>Title</h1></div>
        <div id="searchbox"></div><article class="bd-article"><section id="title"><h1>Title
        <a class="headerlink" href="#title">#</a></h1><p>Text.</p></section></article>
        <footer class="prev-next-footer">next</footer><div class="bd-sidebar-secondary">On this page</div>
        </div></main>""",
    "sphinx-rtd": """
        <nav class="wy-nav-side">Docs</nav><div class="wy-nav-content"><div class="rst-content">
        <div role="navigation"><ul class="wy-breadcrumbs"><li>x</li></ul><hr></div>
        <div role="main" class="document" itemscope><div itemprop="articleBody"><section id="title">
        <h1>Title<a class="headerlink" href="#title">\uf0c1</a></h1><p>Text.</p></section></div></div>
        <footer><p>&#169; Copyright 2020</p></footer></div></div>""",
    "sphinx-basic": """
        <div class="related"><h3>Navigation</h3></div><div class="document"><div class="documentwrapper">
        <div class="bodywrapper"><div class="body" role="main"><section id="title"><h1>Title
        <a class="headerlink" href="#title">\u00b6</a></h1><p>Text.</p></section></div></div></div>
        <div class="sphinxsidebar"><h3>Contents</h3></div></div><div class="footer">2025</div>""",
    "mkdocs-material": """
        <header class="md-header"><h1>Docs</h1></header><main class="md-main"><div class="md-sidebar">nav</div>
        <div class="md-content"><article class="md-content__inner md-typeset">
        <a href="e" class="md-content__button md-icon" title="Edit this page"><svg></svg></a>
        <h1 id="title">Title<a class="headerlink" href="#title">&para;</a></h1><p>Text.</p>
        <aside class="md-source-file"><span class="md-source-file__fact">May 2, 2025</span></aside>
        </article></div></main><footer class="md-footer">next</footer>""",
    "mkdocs": """
        <div class="navbar">Docs</div><div class="container"><div class="row"><div class="col-md-3">
        <div class="navbar-light">toc</div></div><div class="col-md-9" role="main">
        <h1 id="title">Title</h1><p>Text.</p></div></div></div><footer class="col-md-12">MkDocs</footer>""",
    "docusaurus": """
        <nav class="navbar">Docs</nav><main class="docMainContainer_x"><div class="container"><div class="row">
        <div class="col"><div class="docItemContainer_y"><article><nav class="theme-doc-breadcrumbs">a</nav>
        <span class="theme-doc-version-badge badge">Version: 2.1</span><div class="tocCollapsible_z">toc</div>
        <div class="theme-doc-markdown markdown"><header><h1>Title</h1></header><p>Text.</p></div>
        <footer class="theme-doc-footer"><a class="theme-edit-this-page" href="e">Edit this page</a>
        <span class="theme-last-updated">Last updated on Jan 1</span></footer></article>
        <nav class="pagination-nav">next</nav></div></div></div></div></main>""",
    "vitepress": """
        <header class="VPNav">Docs</header><div class="VPContent has-sidebar" id="VPContent">
        <div class="VPDoc"><div class="aside"><nav class="VPDocAsideOutline">On this page</nav></div>
        <main class="main"><div class="vp-doc _guide_x"><div><h1 id="title" tabindex="-1">Title
        <a class="header-anchor" href="#title" aria-label="Permalink to title">\u200b</a></h1><p>Text.</p>
        </div></div></main><footer class="VPDocFooter">Last updated: 1/1/25</footer></div></div>""",
    "vuepress": """
        <header class="vp-navbar">Docs</header><aside class="vp-sidebar">x</aside><main class="vp-page">
        <div vp-content><div><h1 id="title"><a class="header-anchor" href="#title"><span>Title</span></a></h1>
        <p>Text.</p></div></div><footer class="vp-page-meta"><div class="vp-meta-item">Last Updated:: 1/1/25</div>
        </footer><nav class="vp-page-nav">Next</nav></main>""",
    "hugo-docsy": """
        <nav class="td-navbar">Docs</nav><main role="main"><ol class="breadcrumb"><li>x</li></ol>
        <div class="td-content"><h1>Title</h1><header class="article-meta"></header><p>Text.</p>
        <div class="feedback--rating">Was this page helpful?</div><div class="td-page-meta__lastmod">
        Last modified January 1</div></div></main><aside class="td-sidebar-toc">toc</aside>""",
    "hugo-docsy older": """
        <main role="main"><div class="td-content"><h1>Title</h1><header class="article-meta"><div class="taxonomy">
        Tags: x</div><p class="reading-time">5 minute read</p></header><p>Text.</p><div class="d-print-none">
        <h2 class="feedback--title">Feedback</h2><p class="feedback--question">Was this page helpful?</p>
        <p class="feedback--response">Glad to hear it!</p></div><div class="text-muted mt-5 pt-3 border-top">
        Last modified January 1, 2020: <a href="c">Fix (abc123)</a></div></div></main>""",
    "just-the-docs": """
        <div class="side-bar"><a class="site-title" href="/">Docs</a></div><div class="main" id="top">
        <div class="main-content-wrap"><nav class="breadcrumb-nav">x</nav>
        <div id="main-content" class="main-content"><main><h1 id="title"><a href="#title"
        class="anchor-heading" aria-labelledby="title"><svg></svg></a> Title</h1><p>Text.</p></main>
        <hr><footer><p>Page last modified: Jan 1</p></footer></div></div></div>""",
    "jekyll": """
        <header class="site-header"><a href="/">Docs</a></header><main class="page-content">
        <article class="post"><header class="post-header"><h1 class="post-title">Title</h1></header>
        <div class="post-content"><p>Text.</p></div></article></main><footer class="site-footer">x</footer>""",
    "mdbook": """
        <nav id="sidebar" class="sidebar">toc</nav><div id="page-wrapper" class="page-wrapper"><div class="page">
        <div id="menu-bar" class="menu-bar"><h1 class="menu-title">The Book</h1></div><div id="content"
        class="content"><main><h1 id="title"><a class="header" href="#title">Title</a></h1><p>Text.</p></main>
        <nav class="nav-wrapper"><a href="n">next</a></nav></div></div></div>""",
    "antora": """
        <header class="header"><nav class="navbar">Docs</nav></header><main class="article">
        <div class="toolbar" role="navigation"><div class="edit-this-page"><a href="e">Edit this Page</a></div>
        </div><div class="content"><aside class="toc sidebar">toc</aside><article class="doc">
        <h1 class="page">Title</h1><div class="paragraph"><p>Text.</p></div>
        <nav class="pagination"><span class="next">n</span></nav></article></div></main>""",
    "asciidoctor": """
        <meta name="generator" content="Asciidoctor 2.0"><div id="header"><h1>Title</h1><div id="toc"
        class="toc">toc</div></div><div id="content"><div class="paragraph"><p>Text.</p></div></div>
        <div id="footer"><div id="footer-text">Last updated 2025-01-01</div></div>""",
    "asciidoctor manpage": """
        <meta name="generator" content="AsciiDoc 10.2.0"><div id="header"><h1>Title</h1><div id="toc"
        class="toc">toc</div><div class="details"><span id="author" class="author">Someone</span></div>
        <div class="sectionbody"><p>Text.</p></div></div><div id="content"></div><div id="footnotes"></div>
        <div id="footer"><div id="footer-text">Last updated 2025-01-01</div></div>""",
    "docbook": """
        <div class="navheader"><table><tr><th>Title</th></tr></table><hr></div><div class="sect1" id="TITLE">
        <div class="titlepage"><div><div><h1 class="title">Title
        <a href="#TITLE" class="id_link">#</a></h1></div></div></div><div class="toc"><dl><dt>1. x</dt></dl></div>
        <p>Text.</p></div><div class="navfooter"><hr>next</div>""",
    "rustdoc": """
        <meta name="generator" content="rustdoc"><nav class="sidebar">toc</nav><main><div class="width-limiter">
        <section id="main-content" class="content"><div class="main-heading"><div class="rustdoc-breadcrumbs">
        <a href="i">std</a></div><h1>Title <button id="copy-path">Copy item path</button></h1>
        <span class="sub-heading"><a class="src" href="s">Source</a></span></div>
        <details class="toggle top-doc" open><summary class="hideme"><span>Expand description</span></summary>
        <div class="docblock"><p>Text.</p></div></details></section></div></main>""",
    "javadoc": """
        <meta name="generator" content="javadoc/DocletImpl"><div class="flex-box"><header class="flex-header">
        <nav><div class="top-nav" id="navbar-top">x</div></nav></header><div class="flex-content">
        <main role="main"><div class="header"><h1 class="title">Title</h1></div><div class="block">Text.</div>
        </main><footer role="contentinfo"><p class="legal-copy">2025</p></footer></div></div>""",
    "doxygen": """
        <meta name="generator" content="Doxygen 1.9.8"><div id="top"><div id="titlearea">Project 1.2</div></div>
        <div id="doc-content"><div class="header"><div class="summary"><a href="#f">Functions</a></div>
        <div class="headertitle"><div class="title">Title</div></div></div><div class="contents">
        <div class="textblock"><p>Text.</p></div></div></div><div id="nav-path" class="navpath">2025</div>""",
    "docutils": """
        <div class="document" id="title"><div class="sidemenu" id="sidemenu"><ul><li>x</li></ul></div>
        <h1 class="title">Title</h1><p>Text.</p></div><div class="footer">Generated on: 2025-06-26.</div>""",
    "httpd": """
        <div id="page-header"><p>Apache</p></div><div id="page-content"><div id="preamble"><h1>Title</h1>
        <div class="toplang">en</div><p>Text.</p></div><div id="quickview"><ul><li>toc</li></ul></div></div>
        <div id="footer">Copyright</div>""",
    "starlight": """
        <header class="header">Docs</header><main><div class="content-panel"><h1 id="_top">Title</h1></div>
        <div class="content-panel"><div class="sl-markdown-content"><p>Text.</p></div>
        <footer>Last updated: Jan 1</footer></div></main>""",
    "typedoc": """
        <header class="tsd-page-toolbar">Docs</header><div class="col-content"><div class="tsd-page-title">
        <ul class="tsd-breadcrumb"><li>x</li></ul><h1>Title</h1></div><p>Text.</p><aside class="tsd-sources"><ul>
        <li>Defined in x.ts:18</li></ul></aside><section class="tsd-panel tsd-index-panel"><details open><summary>
        <h5>Index</h5></summary><a href="#a">a</a></details></section></div><footer>Generated by TypeDoc</footer>""",
    "texinfo": """
        <meta name="Generator" content="makeinfo"><div class="header"><p>Next: x</p></div>
        <h1 class="chapter">Title</h1><p>Text.</p>""",
}  # fmt: skip


def page(name, text):
    """Return a whole page; a ``meta`` that starts it goes to the head."""
    body, meta = PAGES[name].strip().replace("Text.", text), ""
    if body.startswith("<meta"):
        meta, _, body = body.partition(">")
        meta += ">"
    return f"<html><head><title>Title - Docs</title>{meta}</head><body>{body}</body></html>"


@pytest.mark.parametrize("name", PAGES)
def test_main_content_of(name):
    document = extract(page(name, "Text."), URL)
    assert (document.generator, document.markdown) == (name.split()[0], "# Title\n\nText.")


@pytest.mark.parametrize("name", PAGES)
def test_a_stub_of_a_known_generator_stays_a_stub(name):
    assert extract(page(name, "Moved"), URL).markdown == "# Title\n\nMoved"


@pytest.mark.parametrize(
    ("html", "generator", "markdown"),
    [
        (f"<header>Site</header><main><h1>T</h1><p>{LONG}</p></main>", "html5", f"# T\n\n{LONG}"),
        (f"<p>Site</p><div role='main'><p>{LONG}</p></div>", "html5", LONG),
        (f"<p>Site</p><article><p>{LONG}</p></article>", "html5", LONG),
        (f"<article>{LONG}</article><article>{LONG}</article>", "body", f"{LONG}\n\n{LONG}"),
        (f"<main>Loading</main><p>{LONG}</p>", "body", f"Loading\n\n{LONG}"),
        (f"<p>{LONG}</p>", "body", LONG),
    ],
)
def test_pages_of_no_known_generator(html, generator, markdown):
    document = extract(f"<body>{html}</body>", URL)
    assert (document.generator, document.markdown) == (generator, markdown)


def test_the_first_docbook_division_is_the_outer_one():
    html = (
        "<div class='navheader'></div><div class='chapter'><h1>C</h1>"
        "<div class='sect1'><h2>S</h2><p>x</p></div></div>"
    )
    assert extract(f"<body>{html}</body>", URL).markdown == "# C\n\n## S\n\nx"
