"""Whether a site can be reached and read: its host, its robots.txt."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
)

from freshcrawl.doctor import Check, fail, ok, warn
from freshcrawl.failures import WORDS

if TYPE_CHECKING:
    from protego import Protego

    from freshcrawl.doctor.findings import Asked, Findings

SLOW = "check that no firewall or proxy is in between; raise DOWNLOAD_TIMEOUT if it is just slow"
ADVICE: dict[type[BaseException], str] = {
    CannotResolveHostError: (
        "check the spelling of the URL, and that this machine can look up names (or set a proxy)"
    ),
    DownloadConnectionRefusedError: (
        "check the host and the port of the URL, and that the server runs"
    ),
    DownloadTimeoutError: SLOW,
    TimeoutError: SLOW,
}
"""What to advise where ``WORDS`` say what is wrong."""
TROUBLES = {
    "NotAsked": (
        "{url} was not asked for: enough requests were made",
        "run scrapy doctor for this site alone, or simply crawl it",
    ),
    **{kind.__name__: (f"{{host}}: {WORDS[kind]}", advice) for kind, advice in ADVICE.items()},
}
"""What to say and to advise, by the name of the exception."""
BY_DETAIL = (
    (
        "certificate verify failed",
        "the certificate of {host} cannot be trusted",
        "have the site send its whole chain, or add its authority to this machine's certificates",
    ),
    (
        "SSL",
        "{host} does not speak TLS as expected",
        "check whether the URL must start with http:// instead of https://",
    ),
)
"""The same, by words in what the exception says."""
REFUSED = (
    "the site wants a login, or does not like the user agent: it needs credentials "
    "(docs/sites.md), or ask the people who run it"
)


def trouble(asked: Asked) -> tuple[str, str]:
    """Return in words why there was no answer, and what to do."""
    host = urlsplit(asked.url).netloc
    for part, what, advice in BY_DETAIL:
        if part in asked.detail:
            return what.format(host=host), advice
    if asked.problem not in TROUBLES:
        # What a server sent may look like a format.
        return f"{host} gives no answer ({asked.problem}: {asked.detail})", "try again"
    what, advice = TROUBLES[asked.problem]
    return what.format(host=host, url=asked.url), advice


def bad_status(status: int) -> str:
    """Return the advice for a status that is no content."""
    if status in {401, 403, 407}:
        return REFUSED
    if status == 429:
        return "the site asks to slow down: raise DOWNLOAD_DELAY, and wait before the next try"
    if status >= 500:
        return "the site has an error: try again later"
    return "give a URL that is there"


def access_checks(findings: Findings) -> list[Check]:
    """Say whether the host answers, and what its robots.txt allows."""
    asked = findings.robots
    if findings.error:
        what = f"the site could not be looked at ({findings.error})"
        return [fail("connection", what, "this is not expected: please report it")]
    if asked is None:
        what, advice = TROUBLES["DownloadTimeoutError"]
        host = urlsplit(findings.site.url).netloc
        return [fail("connection", what.format(host=host), advice)]
    if asked.problem:
        return [fail("connection", *trouble(asked))]
    parts = urlsplit(findings.site.url)
    answers = ok("connection", f"{parts.netloc} answers over {parts.scheme}")
    return [answers, *_robots_checks(findings, asked)]


def _robots_checks(findings: Findings, asked: Asked) -> list[Check]:
    policy = findings.policy
    if policy is None or not findings.agent:
        return [warn("robots", "not obeyed: ROBOTSTXT_OBEY is off", "set it to true")]
    if policy.problem:
        what = f"robots.txt answers HTTP {asked.status}: nothing may be read until it is back"
        return [fail("robots", what, "wait, or tell the people who run the site (RFC 9309)")]
    if policy.parser is None:
        what = f"there is no robots.txt (HTTP {asked.status}): everything may be read"
        return [ok("robots", what)]
    if asked.looks_like_html:
        return [ok("robots", "robots.txt is an HTML page: taken as one without rules")]
    return [_rules(policy.parser, findings.site.url, findings.agent)]


def _rules(parser: Protego, start: str, agent: str) -> Check:
    """Say what the rules mean for the start page and for the pace."""
    if not parser.can_fetch(start, agent):
        what = f"robots.txt forbids {start} to {agent!r}"
        return fail("robots", what, "ask the people who run the site to allow it")
    if delay := parser.crawl_delay(agent):
        what = f"robots.txt allows {start}, and asks for {delay:g} s between requests"
        advice = f"set DOWNLOAD_DELAY to {delay:g}: it is not taken from robots.txt"
        return warn("robots", what, advice)
    return ok("robots", f"robots.txt allows {start}")
