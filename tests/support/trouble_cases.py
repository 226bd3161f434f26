"""The cases of the suite in which nothing may be deleted, by name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
)

from tests.support import troubles as t
from tests.support.cuts import Cut
from tests.support.nothing_deleted import ANY, Case
from tests.support.troubled_site import GUIDE, HOME, none
from tests.support.wall_pages import BACK_SOON, GITLAB, GOOGLE, html

if TYPE_CHECKING:
    from tests.support.nothing_deleted import MakeTrouble
    from tests.support.troubled_site import Asked, Trouble

MINUTE = 1 / 1_440
HIDE: dict[str, Any] = {"robots": "hide"}
PLAIN_WALL = html(
    "Example",
    "<main><h1>Example</h1><p>These pages are for customers of the newer plans. Choose your plan "
    'below and you will be taken back to what you were about to read.</p><p><a href="/plans">'
    'Plans</a> <a href="/contact">Contact</a></p></main>',
)
"""A wall that no known mark gives away."""


def always(trouble: Trouble) -> MakeTrouble:
    """Return a trouble that is the same for all sites."""
    return lambda site: trouble


def echoing(asked: Asked) -> str:
    """Return a wall that names what was asked for, and the number of the request."""
    return html(
        f"Example - {asked.path}",
        f"<main><h1>Example</h1><p>You asked for {asked.request.url} (request {asked.number}). "
        "These pages are for customers of the newer plans. Choose your plan below and you will "
        "be taken back to what you were about to read.</p></main>",
    )


OUTAGES = {
    "connection refused": Case(always(t.raises(lambda: DownloadConnectionRefusedError("refused")))),
    "read time-outs": Case(always(t.raises(lambda: DownloadTimeoutError("too slow")))),
    "pages time out": Case(
        always(t.only(t.pages, t.raises(lambda: DownloadTimeoutError("too slow"))))
    ),
    "503 for 10 minutes": Case(always(t.status(503)), days=MINUTE, wait=3.0, stale=()),
    "503 of pages for 10 minutes": Case(always(t.status(503, robots=False)), days=MINUTE, wait=3.0),
    "503 for 10 days": Case(always(t.status(503)), days=1.0),
    "503 of pages for 10 days": Case(always(t.status(503, robots=False)), days=1.0),
    "robots.txt 503": Case(always(t.only(t.at("/robots.txt"), t.status(503)))),
    "DNS failure": Case(always(t.raises(lambda: CannotResolveHostError("docs.test")))),
    "403 everywhere": Case(always(t.status(403))),
    "hub page 500": Case(always(t.only(t.at(GUIDE), t.status(500))), stale=(GUIDE,)),
    "start page 500": Case(always(t.only(t.at(HOME), t.status(500))), stale=(HOME,)),
    "start page not due": Case(always(none), days=0.05, stale=()),
    "cut by page count": Case(
        always(none), cut=Cut("pages", number=11), stale=ANY, ends="closespider_pagecount"
    ),
    "cut by time": Case(
        always(t.slow),
        settings={"CLOSESPIDER_TIMEOUT": 0.1},
        full=True,
        stale=ANY,
        ends="closespider_timeout",
    ),
    "cut by SIGTERM": Case(
        always(none), cut=Cut("stop", number=2), full=True, stale=ANY, ends="shutdown"
    ),
}
SITEMAPS = {
    f"{what} {which}": Case(always(t.only(paths, trouble)), stale=())
    for what, trouble in {
        "empty": t.body("", **{"Content-Type": "application/xml"}),
        "truncated": t.truncated,
        "HTML": t.body(BACK_SOON),
        "304": t.status(304),
        "403": t.status(403),
        "404": t.status(404),
        "500": t.status(500),
    }.items()
    for which, paths in {"sitemap": t.root_sitemap, "child sitemaps": t.child_sitemaps}.items()
}
SITEMAPS["one child of five missing"] = Case(
    always(t.only(t.at("/sitemap-3.xml"), t.status(404))),
    stale=(),
    said="/sitemap-3.xml: HTTP 404 (for 10 runs in a row; what it listed stays listed)",
)
SHRUNK = {
    "sitemaps list half": Case(
        lambda site: t.only(t.child_sitemaps, t.half_of_sitemaps(site)), stale=ANY
    ),
    "hubs link to half": Case(t.half_of_links, stale=ANY),
}
WALLS = {
    "maintenance page": Case(always(t.body(BACK_SOON))),
    "maintenance page for pages": Case(always(t.only(t.pages, t.body(BACK_SOON)))),
    "consent wall": Case(always(t.body(GOOGLE))),
    "wall without a mark": Case(always(t.body(PLAIN_WALL))),
    "wall without a mark for pages": Case(always(t.only(t.pages, t.body(PLAIN_WALL)))),
    "wall that names the page": Case(always(t.body(echoing))),
    "wall for pages that names them": Case(always(t.only(t.pages, t.body(echoing)))),
    "login redirect 302": Case(always(t.redirect(302, t.LOGIN, GITLAB))),
    "login redirect 301": Case(always(t.redirect(301, t.LOGIN, GITLAB))),
    "login redirect 302 off the site": Case(always(t.redirect(302, t.SSO, GITLAB))),
    "login redirect 301 off the site": Case(always(t.redirect(301, t.SSO, GITLAB))),
    "301 to a login without a mark": Case(
        always(t.only(t.page_or(t.LOGIN), t.redirect(301, t.LOGIN, PLAIN_WALL)))
    ),
    "301 of pages off the site": Case(always(t.only(t.pages, t.redirect(301, t.SSO, "")))),
    "all redirected home 301": Case(
        always(t.only(t.pages, t.redirect(301, HOME, ""))), well=(HOME,)
    ),
    "all redirected home 302": Case(
        always(t.only(t.pages, t.redirect(302, HOME, ""))), well=(HOME,)
    ),
}
BAD_DEPLOYS = {
    "noindex by meta": Case(lambda site: t.only(t.pages, t.noindex_meta(site))),
    "noindex by header": Case(lambda site: t.only(t.pages, t.noindex_header(site))),
    "404 of pages": Case(always(t.only(t.pages, t.status(404)))),
    "410 of all but the home page": Case(
        always(t.only(t.inner_pages, t.status(410))), well=(HOME,), stale=ANY
    ),
    "robots disallow": Case(always(t.only(t.at("/robots.txt"), t.robots_disallow))),
    "robots disallow, hidden": Case(
        always(t.only(t.at("/robots.txt"), t.robots_disallow)), table=HIDE
    ),
}


def dripping(case: Case) -> Case:
    """Return a case in which one page or two come due a run."""
    return replace(case, wait=1.4, days=0.13, stale=ANY)


def with_broken_page(case: Case) -> Case:
    """Return a case in which one page answers 500 all the while."""
    return replace(case, trouble=lambda site: t.broken_page(case.trouble(site)))


ALL = OUTAGES | WALLS | BAD_DEPLOYS
"""What may befall sites of either kind."""
