"""Antora: Git's technical notes and how-tos, AsciiDoc from Debian's source package `git`.

Needs Node.js 20 or later with npm, git, and a Debian machine with the package `asciidoctor`
for the gold (the DocBook that it makes of the same sources). Antora's default UI is in no
package registry: the UI here is written for this corpus, with the elements and classes that
the default UI puts around a page.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from benchmarks.corpus import Page
from benchmarks.gold_docbook import gold_of_docbook
from benchmarks.sources import chosen, run
from benchmarks.tools import debian_source, need, node_modules

if TYPE_CHECKING:
    from pathlib import Path

FAMILY = "antora"
UNSEEN = False
_GUIDES = (
    "MyFirstContribution", "MyFirstObjectWalk", "gitcore-tutorial", "gittutorial", "giteveryday",
    "gitworkflows", "gitfaq", "gitcli", "gitcredentials", "gitdiffcore", "gitnamespaces",
    "gitsubmodules", "gitprotocol-http", "gitformat-pack", "git-bisect-lk2009",
)  # fmt: skip
_LINK = re.compile(r"linkgit:([\w-]+)\[(\w+)\]")
_PLAYBOOK = """
site: {title: Git, url: 'https://docs.test', start_page: 'git::gitcli.adoc'}
content: {sources: [{url: ./content, branches: HEAD}]}
ui: {bundle: {url: ./ui}}
output: {dir: ./out}
asciidoc: {attributes: {compat-mode: '', litdd: '--', experimental: ''}}
"""
_LAYOUT = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{{{detag page.title}}} :: {{site.title}}</title>
<meta name="generator" content="Antora {{antoraVersion}}"></head><body class="article">
<header class="header"><nav class="navbar"><div class="navbar-brand">
<a class="navbar-item" href="{{{site.url}}}">{{site.title}}</a></div>
<div id="topbar-nav" class="navbar-menu"><div class="navbar-end">
<a class="navbar-item" href="#">Home</a>
<div class="navbar-item has-dropdown is-hoverable"><a class="navbar-link" href="#">Products</a>
<div class="navbar-dropdown"><a class="navbar-item" href="#">Product A</a></div></div></div></div>
</nav></header><div class="body">
<div class="nav-container" data-component="git" data-version="2.39">
<aside class="nav"><div class="panels"><div class="nav-panel-menu is-active" data-panel="menu">
<nav class="nav-menu"><h3 class="title"><a href="gitcli.html">{{{page.component.title}}}</a></h3>
<ul class="nav-list"><li class="nav-item" data-depth="1"><a class="nav-link" href="gitfaq.html">
Frequently asked questions</a></li></ul></nav></div></div></aside></div><main class="article">
<div class="toolbar" role="navigation"><button class="nav-toggle"></button>
<a href="index.html" class="home-link"></a><nav class="breadcrumbs" aria-label="breadcrumbs"><ul>
<li><a href="#">{{{page.component.title}}}</a></li><li><a href="#">{{{page.title}}}</a></li></ul>
</nav><div class="edit-this-page"><a href="#">Edit this Page</a></div></div><div class="content">
<aside class="toc sidebar" data-title="Contents" data-levels="2"><div class="toc-menu"></div>
</aside><article class="doc"><h1 class="page">{{{page.title}}}</h1>{{{page.contents}}}
<nav class="pagination"><span class="next"><a href="#">The next page of these</a></span></nav>
</article></div></main></div><footer class="footer">
<p>This page was built using the Antora default UI.</p>
<p>The source code for this UI is licensed under the terms of the MPL-2.0 license.</p></footer>
</body></html>
"""
_DETAG = "module.exports = (html) => html && html.replace(/<[^>]+>/g, '')\n"


def pages(work: Path) -> list[Page]:
    """Return the pages, built the first time."""
    need(asciidoctor="Debian: asciidoctor", git="Debian: git")
    texts = _texts(debian_source("git", work) / "Documentation")
    if not (work / "out").is_dir():
        node = node_modules(work, "@antora/cli@3.1.15", "@antora/site-generator@3.1.15")
        sources = node / "content" / "modules" / "ROOT" / "pages"
        files = {f"content/modules/ROOT/pages/{name}.adoc": text for name, text in texts.items()}
        files |= {"content/antora.yml": "{name: git, version: '2.39', title: Git}\n"}
        files |= {"playbook.yml": _PLAYBOOK, "ui/layouts/default.hbs": _LAYOUT}
        files |= {"ui/layouts/404.hbs": _LAYOUT}
        for name, text in (files | {"ui/helpers/detag.js": _DETAG}).items():
            (node / name).parent.mkdir(parents=True, exist_ok=True)
            (node / name).write_text(text, encoding="utf-8")
        author = ["-c", "user.name=docs", "-c", "user.email=docs@docs.test"]
        for command in (["init", "-q"], ["add", "."], [*author, "commit", "-qm", "Sources"]):
            run(["git", *command], node / "content")
        command = ["asciidoctor", "-b", "docbook5", "-a", "compat-mode", "-a", "litdd=--"]
        run([*command, "-D", work / "docbook", *sorted(sources.glob("*.adoc"))], work)
        run(["npx", "antora", "playbook.yml"], node)
        (node / "out").rename(work / "out")
    return chosen([_page(work, name) for name in sorted(texts)])


def _texts(docs: Path) -> dict[str, str]:
    """Return the sources that take in no other file and have a title, by name."""
    paths = [docs / f"{name}.txt" for name in _GUIDES]
    paths += [*docs.glob("technical/*.txt"), *docs.glob("howto/*.txt")]
    found = {path.stem: path.read_text(encoding="utf-8") for path in sorted(paths)}
    whole = re.compile(r"\A\S.*\n=+\n")
    return {
        name: _LINK.sub(r"\1(\2)", text)
        for name, text in found.items()
        if "include::" not in text and whole.match(text)
    }


def _page(work: Path, name: str) -> Page:
    html = (work / "out" / "git" / "2.39" / f"{name}.html").read_bytes()
    docbook = (work / "docbook" / f"{name}.xml").read_text(encoding="utf-8")
    return Page(f"https://docs.test/git/2.39/{name}.html", html, gold_of_docbook(docbook))
