"""A site that changes as sites do: pages with texts, moves, deletions, returns, a template."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

from freshcrawl.core.urls import url_key
from tests.support.site_texts import Text, Texts

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = "http://docs.test/"
HOME = "/"
VALIDATORS = ("both", "etag", "date", "none")
SITEMAPS = 3


@dataclass(slots=True)
class Page:
    """One path of the site as it is now."""

    path: str
    text: Text
    status: int = 200
    """200, 301 (to ``target``), 404 or 410."""
    target: str = ""
    listed: bool = True
    noindex: bool = False
    links: list[str] = field(default_factory=list)
    validators: str = "both"
    sitemap: int = 0
    reference: int = 0
    """Names the place outside of the site that the text links to."""
    revision: int = 0
    """Goes up with each edit; the date of ``Last-Modified``."""
    past: list[Text] = field(default_factory=list)

    @property
    def is_document(self) -> bool:
        """Whether the page answers with a text that may be in the answers."""
        return self.status == 200 and not self.noindex


class SiteModel:
    """The truth about a site; all that is random comes from one seed."""

    def __init__(self, seed: int, size: int, *, by_links: bool, nested: bool) -> None:
        self._random = random.Random(seed)
        self.by_links = by_links
        self.nested = nested and not by_links
        self.frame = 0
        """Version of the template around the text."""
        self.banner = ""
        """A paragraph that the template puts into every page's text."""
        self._made = 0
        self.pages: dict[str, Page] = {}
        self._texts = Texts(self._random)
        if by_links:
            self.pages[HOME] = Page(HOME, self._texts.page())
        for _ in range(size):
            self.add()
        for page in self.pages.values():
            self.relink(page)

    def add(self) -> Page:
        """Add a page, with a link to it from one that answers."""
        self._made += 1
        folder = self._random.choice(["", "guide/", "api/v2/"])
        ending = self._random.choice(["", ".html", "/"])
        path = f"/{folder}p{self._made}{ending}"
        page = Page(path, self._texts.page(), sitemap=self._random.randrange(SITEMAPS))
        page.validators = self._random.choice(VALIDATORS)
        if sources := [p for p in self.pages.values() if p.status == 200]:
            source = self._random.choice(sources)
            source.links.append(path)
            source.revision += 1
        self.pages[path] = page
        return page

    def relink(self, page: Page) -> None:
        """Give a page other links."""
        others = [path for path in self.pages if path != page.path]
        page.links = self._random.sample(others, min(len(others), self._random.randint(1, 4)))
        page.revision += 1

    def pick(self, number: int, *, documents: bool) -> list[Page]:
        """Return up to ``number`` pages but the start page, documents or others, by chance."""
        fit = [
            page
            for page in self.pages.values()
            if page.path != HOME and page.is_document == documents
        ]
        return self._random.sample(fit, min(number, len(fit)))

    # -- what happens to a page -----------------------------------------------

    def edit(self, page: Page) -> None:
        """Change the text in one place."""
        blocks = list(page.text.blocks)
        place = self._random.randrange(len(blocks))
        how = self._random.choice(["replace", "insert", "cut", "title"])
        title = page.text.title
        if how == "title":
            title = self._texts.title()
        elif how == "cut" and len(blocks) > 2:
            del blocks[place]
        elif how == "insert":
            blocks.insert(place, self._texts.block())
        else:
            blocks[place] = self._texts.block()
        self._say(page, Text(title, tuple(blocks)))

    def revert(self, page: Page) -> None:
        """Give a page an older text of its own."""
        if page.past:
            self._say(page, self._random.choice(page.past))

    def point_elsewhere(self, page: Page) -> None:
        """Change where a link of the text leads to, and no word."""
        page.reference += 1
        page.revision += 1

    def move(self, page: Page) -> None:
        """Give the text another URL; the old one redirects to it for good."""
        new = self.add()
        new.text, new.links = page.text, [*page.links]
        for other in self.pages.values():
            if page.path in other.links:
                other.links = [new.path if path == page.path else path for path in other.links]
                other.revision += 1
        page.status, page.target = 301, new.path
        page.listed = self._random.random() < 0.3

    def delete(self, page: Page) -> None:
        """Take a page away; a source may go on listing it."""
        page.status = self._random.choice([404, 410])
        page.listed = self._random.random() < 0.4

    def bring_back(self, page: Page) -> None:
        """Let a page that left answer again, and list it."""
        page.status, page.target, page.noindex, page.listed = 200, "", False, True
        page.revision += 1

    def hide(self, page: Page) -> None:
        """Mark a page noindex."""
        page.noindex = True
        page.revision += 1

    def unlist(self, page: Page) -> None:
        """Take a page off the sitemap; it still answers."""
        page.listed = False

    def relist(self, page: Page) -> None:
        """Put a page on the sitemap."""
        page.listed = True

    def new_frame(self) -> None:
        """Change the template around the text of all pages."""
        self.frame += 1
        self._touch_all()

    def new_banner(self) -> None:
        """Change what the template puts into the text of all pages."""
        self.banner = "" if self.banner and self._random.random() < 0.5 else self._texts.paragraph()
        self._touch_all()

    def _touch_all(self) -> None:
        for page in self.pages.values():
            page.revision += 1

    def _say(self, page: Page, text: Text) -> None:
        page.past.append(page.text)
        page.text = text
        page.revision += 1

    # -- what the site is -----------------------------------------------------

    def listed(self) -> set[str]:
        """Return the paths that a perfect crawl of the site as it is now would come upon."""
        starts = [HOME] if self.by_links else [p.path for p in self.pages.values() if p.listed]
        found: set[str] = set()
        while starts:
            path = starts.pop()
            if path in found or path not in self.pages:
                continue
            found.add(path)
            page = self.pages[path]
            if page.status == 301:
                starts.append(page.target)
            elif page.status == 200 and self.by_links:
                starts += page.links
        return found

    def on_sitemap(self, number: int) -> list[str]:
        """Return the listed paths of one sitemap; all of them if there is but one."""
        return [
            page.path
            for page in self.pages.values()
            if page.listed and (not self.nested or page.sitemap == number)
        ]

    def html(self, page: Page) -> str:
        """Return the page as the server sends it."""
        robots = '<meta name="robots" content="noindex">' if page.noindex else ""
        links = "".join(f'<a href="{path}">{path}</a> ' for path in page.links)
        texts = [f"<p>{escape(self.banner)}</p>"] if self.banner else []
        texts += [_TAGS[kind].format(escape(text)) for kind, text in page.text.blocks]
        texts.append(f'<p>See also <a href="https://example.org/{page.reference}">there</a>.</p>')
        title = escape(page.text.title)
        return (
            f"<!doctype html><html><head><title>{title}</title>{robots}</head>"
            f"<body class='frame-{self.frame}'><nav>menu {links}</nav>"
            f"<main><h1>{title}</h1>{''.join(texts)}</main></body></html>"
        )


_TAGS = {"p": "<p>{}</p>", "h2": "<h2>{}</h2>", "pre": "<pre><code>{}</code></pre>"}


def key_of(path: str) -> str:
    """Return the key of a path of the site."""
    return url_key(url_of(path))


def url_of(path: str) -> str:
    """Return the URL of a path of the site."""
    return ROOT + path.removeprefix("/")


def keys_of(paths: Iterable[str]) -> set[str]:
    """Return the keys of paths of the site."""
    return {key_of(path) for path in paths}
