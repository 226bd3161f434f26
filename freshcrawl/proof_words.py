"""What proved that a page left the answers or came back, for JSON and for reading."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from freshcrawl.core.pages import Cause, Status
from freshcrawl.core.proofs import all_of
from freshcrawl.core.report import iso
from freshcrawl.core.same_work import same_cause
from freshcrawl.core.words import count, when

if TYPE_CHECKING:
    from collections.abc import Mapping

    from freshcrawl.core.pages import PageRecord

WAS = {Status.HIDDEN: "was hidden", Status.GONE: "was gone", Status.ALIAS: "was another's alias"}
"""How a page is spoken of that left the answers and is back."""
IS = {
    Status.HIDDEN: "hidden",
    Status.GONE: "gone",
    Status.ALIAS: "an alias",
    Status.EXCLUDED: "kept out of the answers",
    Status.LIVE: "kept in the answers",
}
CAUSES = {
    Cause.NOT_FOUND: "it was not found",
    Cause.GONE: "it said that it was gone for good",
    Cause.UNLISTED: "nothing listed it any more",
    Cause.MOVED: "it had moved",
    Cause.HOME: "it redirected to the home page",
    Cause.OFF_SITE: "it redirected off the site",
    Cause.FOR_NOW: "it redirected for the time being",
    Cause.COPY: "it named another page as canonical",
    Cause.NOINDEX: "it asked not to be indexed",
    Cause.ROBOTS: "robots.txt disallowed it",
    Cause.SCOPE: "the site's own table left it out",
    Cause.NO_PAGE: "it was no page of documentation",
}


def proofs_of(record: PageRecord) -> list[dict[str, Any]]:
    """Return what the record keeps of what proved its states, newest last, for JSON."""
    return [
        {
            "cause": proof.cause,
            "url": proof.url,
            "http_status": proof.http_status or None,
            "target": proof.target,
            "said": proof.said,
            "status": proof.status,
            "first_found": iso(proof.first),
            "last_found": iso(proof.last),
            "runs": proof.runs,
            "run_id": proof.run_id,
            "left_at": iso(proof.left),
            "over_at": iso(proof.over),
        }
        for proof in all_of(record)
    ]


def proof_lines(page: Mapping[str, Any], now: float) -> list[str]:
    """Return what proves the state of a page, and what did before, a line each, newest first."""
    live = page["status"] == Status.LIVE
    kept = str((page.get("discarded") or {}).get("cause", "")) if live else ""
    return [
        _line(proof, now, live=live, kept=bool(kept) and same_cause(kept, proof["cause"]))
        for proof in reversed(page["proofs"])
    ]


def _line(proof: Mapping[str, Any], now: float, *, live: bool, kept: bool) -> str:
    """Return a proof in words; ``kept``: a person has discarded what it proves."""
    found = f"found {when(proof['first_found'], now)}"
    if proof["runs"] > 1:
        found += f", last {when(proof['last_found'], now)}, by {count(proof['runs'], 'run')}"
    kept = kept and not proof["over_at"]
    link = "although" if kept or proof["status"] == Status.LIVE else "because"
    why = f"{link} {CAUSES.get(proof['cause'], proof['cause'])} ({_answer(proof)})"
    state = IS[Status.LIVE] if kept else _state(proof, live=live)
    return f"{state} {why}; {found} ({proof['run_id']})"


def _state(proof: Mapping[str, Any], *, live: bool) -> str:
    """Return what becomes, or became, of the page, with dates."""
    over, left, status = proof["over_at"], proof["left_at"], proof["status"]
    words = IS.get(status, status)
    if over and left:
        return f"{WAS.get(status, 'was out of the answers')} from {_time(left)} to {_time(over)}"
    if over:
        was = words if status == Status.LIVE or not live else "was to leave the answers"
        return f"{was} from {_time(proof['first_found'])} to {_time(over)}"
    if status == Status.LIVE and not live:
        return f"was {words} until {_time(proof['last_found'])}"
    if left:
        return f"{words} since {_time(left)}"
    return "is to leave the answers" if live and status != Status.LIVE else words


def _answer(proof: Mapping[str, Any]) -> str:
    """Return what was asked for, and what answered."""
    status = f"HTTP {proof['http_status']}" if proof["http_status"] else ""
    to = f"to {proof['target']}" if proof["target"] else ""
    answer = ", ".join(filter(None, (f"{status} {to}".strip(), proof["said"])))
    return f"{proof['url']}: {answer}" if answer else str(proof["url"])


def _time(moment: str) -> str:
    return f"{datetime.fromisoformat(moment):%Y-%m-%dT%H:%M:%SZ}"
