"""What a page of a site gives: text, validators, and signs that it is not what it seems."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from freshcrawl.core.robots_meta import product_token, says_noindex
from freshcrawl.core.words import count
from freshcrawl.doctor import Check, fail, ok, warn
from freshcrawl.doctor.access import bad_status, trouble

if TYPE_CHECKING:
    from freshcrawl.core.blocks import Document
    from freshcrawl.doctor.findings import Asked, Findings, SeenPage

LITTLE = 200
"""Characters below which a page has hardly any text."""
LOGIN_MAX = 1_000
"""Characters above which a page with a password field is more than a login."""
PASSWORD = re.compile(r"<input\b[^>]*\btype\s*=\s*[\"']?password", re.IGNORECASE)
SCRIPT = re.compile(r"<script\b", re.IGNORECASE)
WHOLE = "each check downloads the page whole"
RENDER = 'the text seems to be made by scripts: set render = "always" (docs/sites.md)'
KEEP = 'name where the main content is: keep = ["css selector"] (docs/sites.md)'
WAIT_FOR = "name an element to wait for with wait_for, or where the content is with keep"
NO_BROWSER = "mend the browser first (see the check above)"


def is_poor(page: SeenPage) -> bool:
    """Tell whether a page says little of how the others are."""
    return page.document is None or len(_text(page.document)) < LITTLE or _is_generic(page.document)


def page_checks(findings: Findings) -> list[Check]:
    """Judge the start page, and another one where that has hardly any content."""
    site = findings.site
    if site.render != "never" and not findings.browser:
        return [fail("start page", f"{site.url} cannot be rendered", NO_BROWSER)]
    checks = [] if findings.page is None else _start_checks(findings, findings.page)
    read = [page for page in (findings.page, findings.sample) if page and _is_content(page)]
    if read:
        # The start page may be a mere entrance: the other page is what the site is like.
        # By whom noindex may name us; "" where pages that say it are kept.
        agent = product_token(findings.agent) if site.noindex == "hide" else ""
        checks += text_checks(read[-1], render=site.render, agent=agent)
    return checks


def _is_content(page: SeenPage) -> bool:
    return page.document is not None and not page.outside and not page.forbidden


def _start_checks(findings: Findings, page: SeenPage) -> list[Check]:
    """Judge how the start page answers."""
    if page.forbidden and not page.hops:
        return []  # said already, where robots.txt is judged
    if stopped := _stopped(page, findings.site.scope.root):
        # Pages that a sitemap lists are found without it.
        listed = any(seen.listed for seen in findings.sitemaps)
        return [(warn if listed else fail)("start page", *stopped)]
    hops = len(page.hops) - 1
    after = f", after {count(hops, 'redirect')}" if hops else ""
    answers = ok("start page", f"{page.last.url} answers{after}")
    return [answers, validator_check(findings, page.last)]


def _stopped(page: SeenPage, root: str) -> tuple[str, str] | None:
    """Return why a page does not answer with content, and what to do; None if it does."""
    if page.forbidden:
        what = f"leads to {page.forbidden}, which robots.txt forbids"
        return what, "ask the people who run the site to allow it"
    if page.outside:
        return f"leads to {page.outside}, which is not below {root}", f'set url = "{page.outside}"'
    return _no_content(page.last)


def _no_content(last: Asked) -> tuple[str, str] | None:
    if last.problem:
        what, advice = trouble(last)
        return f"{last.url}: {what}", advice
    if 300 <= last.status < 400:
        return f"{last.url} redirects without end", "set url to a page that answers"
    if last.lacks:
        return f"{last.url} {last.lacks}", WAIT_FOR
    if last.status != 200:
        return f"{last.url} answers HTTP {last.status}", bad_status(last.status)
    if not last.is_html:
        what = f"{last.url} is no HTML page (content type {last.kind or 'not given'})"
        return what, "set url to a page, or to the folder of the pages"
    return None


def validator_check(findings: Findings, last: Asked) -> Check:
    """Say whether the site can tell that a page did not change."""
    if findings.site.render != "never":
        return ok("validators", f"not used for rendered pages: {WHOLE}")
    names = {"If-None-Match": "ETag", "If-Modified-Since": "Last-Modified"}
    sent = " and ".join(names[name] for name in last.validators)
    if not sent:
        return ok("validators", f"the site sends neither ETag nor Last-Modified: {WHOLE}")
    again = findings.again
    if again is not None and again.status == 304:
        return ok("validators", f"{sent}; asked again, the site answers 304, without a body")
    status = f"HTTP {again.status}" if again and again.status else "no answer"
    return ok("validators", f"{sent}; but asked again, the site gives {status}: {WHOLE}")


def text_checks(page: SeenPage, *, render: str, agent: str) -> list[Check]:
    """Judge the text of a page that answered; ``agent``: for whom noindex keeps pages out."""
    document, last = page.document, page.last
    if document is None:
        return []
    size = len(_text(document))
    checks: list[Check] = []
    robots = f"{document.robots}\n{_robots_header(last)}"
    if agent and says_noindex(robots, agent):
        what = f"{last.url} says noindex: such pages do not come into the answers"
        checks.append(warn("noindex", what, 'set noindex = "keep" if you may use them'))
    if PASSWORD.search(last.text) and size < LOGIN_MAX:
        what = f"{last.url} has a password field: it seems to be a login"
        return [*checks, warn("login", what, "the site needs credentials (docs/sites.md)")]
    return [*checks, _text_check(document, last, render)]


def _text_check(document: Document, last: Asked, render: str) -> Check:
    size = len(_text(document))
    if size < LITTLE:
        what = f"{last.url} has hardly any text ({size} characters)"
        judge = warn if size else fail
        if render != "never":
            advice = (
                "name an element to wait for, with wait_for; or where the content is, with keep"
            )
            return judge("text", what, advice)
        return judge("text", what, RENDER if SCRIPT.search(last.text) else KEEP)
    if _is_generic(document):
        what = f"{last.url}: the main content is not recognised; the whole page is taken"
        return warn("text", what, KEEP)
    return ok("text", f"{last.url}: {size} characters, by the rule {document.generator}")


def _text(document: Document) -> str:
    return document.bare_markdown.strip()


def _is_generic(document: Document) -> bool:
    return document.generator == "body"


def _robots_header(asked: Asked) -> str:
    return asked.headers.get("x-robots-tag", "")
