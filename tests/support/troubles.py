"""What befalls a site without any page of it being gone: outages, walls, broken lists, bad deploys.

Each trouble is a function of what was asked (``troubled_site.Asked``), which returns the answer
or raises as the downloader does.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tests.support.site_server import Reply
from tests.support.troubled_site import GUIDE, HTML, SITEMAP, page_reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.troubled_site import Asked, Trouble, TroubledSite

LOGIN = "/login"
SSO = "https://sso.example.com/login"


def raises(error: Callable[[], Exception]) -> Trouble:
    """Let no request be answered."""

    def answer(asked: Asked) -> Reply:
        raise error()

    return answer


def status(code: int, *, robots: bool = True) -> Trouble:
    """Answer everything with a status; ``robots`` says whether robots.txt too."""

    def answer(asked: Asked) -> Reply:
        if asked.path == "/robots.txt" and not robots:
            return asked.well
        return Reply(code, b"sorry", dict(HTML))

    return answer


def only(paths: Callable[[Asked], bool], trouble: Trouble) -> Trouble:
    """Have a trouble with some requests only."""

    def answer(asked: Asked) -> Reply:
        return trouble(asked) if paths(asked) else asked.well

    return answer


def at(*paths: str) -> Callable[[Asked], bool]:
    """Return a test for these paths."""
    return lambda asked: asked.path in paths


def pages(asked: Asked) -> bool:
    """Tell a page of the site."""
    return asked.is_page


def inner_pages(asked: Asked) -> bool:
    """Tell a page of the site that is not its home page."""
    return asked.is_page and asked.path != "/"


def root_sitemap(asked: Asked) -> bool:
    """Tell the sitemap that robots.txt names."""
    return asked.path == SITEMAP


def child_sitemaps(asked: Asked) -> bool:
    """Tell the sitemaps that the index lists."""
    return asked.path.startswith("/sitemap-")


def body(text: str | Callable[[Asked], str], **headers: str) -> Trouble:
    """Answer everything 200 with one page, or one made of what was asked."""

    def answer(asked: Asked) -> Reply:
        page = text if isinstance(text, str) else text(asked)
        return Reply(200, page.encode(), {**HTML, **headers})

    return answer


def truncated(asked: Asked) -> Reply:
    """Answer with the first half."""
    return Reply(200, asked.well.body[: len(asked.well.body) // 2], asked.well.headers)


def redirect(code: int, target: str, landing: str) -> Trouble:
    """Redirect all to one target; where it is on the site, it answers ``landing``."""

    def answer(asked: Asked) -> Reply:
        if asked.path == target:
            return Reply(200, landing.encode(), dict(HTML)) if landing else asked.well
        return Reply(code, headers={"Location": target})

    return answer


def noindex_meta(site: TroubledSite) -> Trouble:
    """Put noindex into the head of all pages."""
    head = '<meta name="robots" content="noindex, nofollow">'
    return lambda asked: page_reply(site.html(asked.path, head), asked.request)


def noindex_header(site: TroubledSite) -> Trouble:
    """Send noindex with all pages, not modified ones too."""
    more = {"X-Robots-Tag": "noindex"}
    return lambda asked: page_reply(site.html(asked.path), asked.request, **more)


def robots_disallow(asked: Asked) -> Reply:
    """Let robots.txt forbid all."""
    return Reply(200, b"User-agent: *\nDisallow: /\n", {"Content-Type": "text/plain"})


def half_of_sitemaps(site: TroubledSite) -> Trouble:
    """List half of the pages."""
    return lambda asked: site.sitemap(asked.path, kept=0.5)


def half_of_links(site: TroubledSite) -> Trouble:
    """Link to half of the pages of a hub."""

    def answer(asked: Asked) -> Reply:
        whole = site.links[asked.path]
        site.links[asked.path] = whole[: len(whole) // 2]
        try:
            return page_reply(site.html(asked.path), asked.request)
        finally:
            site.links[asked.path] = whole

    return only(lambda asked: asked.path in site.links and asked.path != "/", answer)


def slow(asked: Asked) -> Reply:
    """Answer late; there is no other way to be cut off by time."""
    time.sleep(0.03)
    return asked.well


def broken_page(trouble: Trouble, path: str = f"{GUIDE}part-b.html") -> Trouble:
    """Let one page always answer 500, whatever else is."""

    def answer(asked: Asked) -> Reply:
        return Reply(500, b"oops", dict(HTML)) if asked.path == path else trouble(asked)

    return answer


def page_or(*paths: str) -> Callable[[Asked], bool]:
    """Return a test for pages of the site and these paths."""
    return lambda asked: asked.is_page or asked.path in paths
