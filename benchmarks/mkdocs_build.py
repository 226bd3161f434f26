"""Real documentation in Markdown, built by MkDocs with a theme."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.corpus import Page
from benchmarks.gold_markdown import gold_of_markdown
from benchmarks.sources import run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

EXTENSIONS = (
    "abbr", "admonition", "attr_list", "def_list", "footnotes", "md_in_html", "tables",
    "pymdownx.details", "pymdownx.superfences", "pymdownx.tabbed", "pymdownx.highlight",
    "pymdownx.tasklist", "pymdownx.tilde", "pymdownx.saneheaders",
)  # fmt: skip
_PLAIN_EXTENSIONS = (
    "admonition", "attr_list", "def_list", "tables", "pymdownx.superfences", "pymdownx.highlight",
)  # fmt: skip
_MADE = re.compile(r"^\s*(?:::: |--8<--|\[TOC\])|\{[%{]|\{ *\.annotate|:[a-z]+-[a-z0-9-]+:", re.M)
_ATTRIBUTES = re.compile(r"(?:\s#+)?\s*\{:? ?[#.][^}\n]*\}\s*$|(?<=\))\{[^}\n]*\}")
_FENCE_TITLE = re.compile(r'( *)```.* title="([^"]*)"')
_BLOCK_TAG = re.compile(r"</?(?:ul|ol|li|p|div)>")
"""What another program turns into text, so that the source does not say what the page holds."""
_BOX = re.compile(r"""( *)(?:!!!|\?\?\?\+?|===[!+]?) ?([\w -]*?) ?(?:"(.*)")? *""")


@dataclass(frozen=True, slots=True)
class Site:
    """What MkDocs builds from a folder."""

    name: str
    docs: Path
    theme: str
    out: Path
    plugins: Sequence[object] = ("search",)
    theme_options: dict[str, object] = field(default_factory=dict)
    left_out: str = ""
    """Patterns of pages that are not built."""


def build(site: Site) -> Path:
    """Return the folder of the built pages; builds them the first time.

    Raises:
        RuntimeError: MkDocs failed.
    """
    if not (site.out / "index.html").is_file() and not (site.out / "sitemap.xml").is_file():
        rich = site.theme == "material"
        config = {
            "site_name": site.name.title(),
            "site_url": f"https://docs.example/{site.name}/",
            "docs_dir": str(site.docs),
            "exclude_docs": site.left_out,
            "site_dir": str(site.out),
            "repo_url": f"https://github.com/example/{site.name}",
            "edit_uri": "edit/main/docs/",
            "copyright": "Copyright &copy; 2026 the authors",
            "theme": {"name": site.theme, **site.theme_options},
            "plugins": list(site.plugins),
            "markdown_extensions": [*_extensions(rich=rich), {"toc": {"permalink": True}}],
        }
        # JSON is YAML too.
        file = site.out.with_suffix(".yml")
        file.write_text(json.dumps(config), encoding="utf-8")
        run([sys.executable, "-m", "mkdocs", "build", "-q", "-f", str(file)], site.docs)
    return site.out


def pages_of_markdown(site: Site) -> list[Page]:
    """Return the pages of a site whose Markdown says all that is on them."""
    out = build(site)
    pages = []
    for path in sorted(site.docs.rglob("*.md")):
        source = path.read_text(encoding="utf-8")
        if not _MADE.search(source):
            url, html = place(site, path)
            if (out / html).is_file():
                gold = gold_of_markdown(commonmark(source), title=_added_title(site, path, source))
                pages.append(Page(url, (out / html).read_bytes(), gold))
    return pages


def place(site: Site, path: Path) -> tuple[str, Path]:
    """Return the URL and the file, below the built folder, of a page."""
    inner = path.relative_to(site.docs).with_suffix("")
    folder = inner.parent if inner.name in {"index", "README"} else inner
    inside = "" if folder == Path() else f"{folder.as_posix()}/"
    return f"https://docs.example/{site.name}/{inside}", folder / "index.html"


def _added_title(site: Site, path: Path, source: str) -> str:
    """Return the title that mkdocs-material puts on a page without one, by MkDocs' rule."""
    if site.theme != "material" or re.search(r"^(?:# |<h1|=====*$)", source, re.MULTILINE):
        return ""
    name = path.parent.name if path.stem == "index" else path.stem
    title = name.replace("-", " ").replace("_", " ")
    return title.capitalize() if title == title.lower() else title


def commonmark(source: str) -> str:
    """Return Markdown with the boxes and tabs of Python-Markdown as quotes."""
    return "\n".join(_quoted(source.split("\n")))


def _quoted(lines: Sequence[str]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        match = _BOX.fullmatch(lines[at])
        at += 1
        if match is None or not (match[2] or match[3]):
            yield from _common(lines[at - 1])
            continue
        end, indent = at, match[1] + "    "
        while end < len(lines) and (lines[end].startswith(indent) or not lines[end].strip()):
            end += 1
        title = match[2].split(" ")[0].title() if match[3] is None else match[3]
        inside = _quoted([line.removeprefix(indent) for line in lines[at:end]])
        yield from ("", f"{match[1]}> {title}", f"{match[1]}>")
        yield from (f"{match[1]}> {line}" for line in inside)
        yield ""
        at = end


def _common(line: str) -> Iterator[str]:
    """Yield a line without attribute lists, a cell without lists, a fence after its title."""
    if match := _FENCE_TITLE.match(line):
        yield from (match[1] + match[2], "")
    line = _ATTRIBUTES.sub("", line)
    yield _BLOCK_TAG.sub("<br>", line) if line.lstrip().startswith("|") else line


def _extensions(*, rich: bool) -> list[object]:
    tabbed = {"pymdownx.tabbed": {"alternate_style": True}}
    highlight = {"pymdownx.highlight": {"linenums": True}}
    special = {"pymdownx.tabbed": tabbed, "pymdownx.highlight": highlight}
    named = EXTENSIONS if rich else _PLAIN_EXTENSIONS
    return [special.get(name, name) for name in named]
