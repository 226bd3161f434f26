"""What proved that a page is to leave the answers, or to stay in them only by policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from freshcrawl.core.pages import Cause, JsonRecord, PageRecord, Status

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

KEPT = 5
"""Different proofs that a record keeps."""
MAX_SHOWN = 300
"""Characters of a URL or value that are kept."""
LASTING_RUNS, LASTING_SECS = 3, 30 * 86_400.0
"""Runs, and the time between the first and last of them, after which what a page does lasts."""


@dataclass(slots=True)
class Proof(JsonRecord):
    """One finding, as often as it was made. Times are epoch seconds, 0 for never."""

    cause: str
    """A Cause."""
    url: str = ""
    """What was asked for."""
    http_status: int = 0
    """0: nothing was asked, or the page's own answer does not count."""
    target: str = ""
    """Where a redirect or canonical link leads."""
    said: str = ""
    """The header, meta or sources that said so."""
    status: str = ""
    """What becomes of the page: a Status; live where the site's policy keeps it."""
    first: float = 0.0
    last: float = 0.0
    runs: int = 0
    """How many runs found it."""
    run_id: str = ""
    """The last of them."""
    left: float = 0.0
    """When the page left the answers by it."""
    over: float = 0.0
    """When it was found to be so no more."""

    @property
    def what(self) -> tuple[str | int, ...]:
        """What tells two proofs apart."""
        return (self.cause, self.http_status, self.target, self.said)


def noted(record: PageRecord, proof: Proof, now: float, run_id: str) -> list[dict[str, Any]]:
    """Return a record's proofs with one that a run found at ``now``; found again, it is the same.

    One that was over begins anew. The last different ones are kept.
    """
    proof.url, proof.target, proof.said = (
        text[:MAX_SHOWN] for text in (proof.url, proof.target, proof.said)
    )
    proofs = all_of(record)
    known = next((p for p in proofs if not p.over and p.what == proof.what), None)
    if known is not None:
        proofs.remove(known)
        proof.first, proof.left = known.first, known.left
        proof.runs = known.runs + (known.run_id != run_id)
    else:
        proof.first, proof.runs = now, 1
    proof.last, proof.run_id = now, run_id
    return _stored([*proofs, proof][-KEPT:])


def over(record: PageRecord, now: float, *, listed: bool = False) -> dict[str, Any]:
    """Return what changes in a record when its page stands: it is so no more.

    That nothing lists the page is over only when it is ``listed`` again; an answer is none.
    """
    proofs = all_of(record)
    for proof in proofs:
        if not proof.over and (proof.cause == Cause.UNLISTED) == listed:
            proof.over = now
    stored = _stored(proofs)
    return {} if stored == record.proofs else {"proofs": stored}


def left(record: PageRecord, cause: str, now: float) -> dict[str, Any]:
    """Return what changes in a record when its page leaves the answers for a cause."""
    proofs = all_of(record)
    current = [p for p in proofs if p.cause == cause and not p.over and not p.left]
    if not current:
        return {}
    current[-1].left = now
    return {"proofs": _stored(proofs)}


def all_of(record: PageRecord) -> list[Proof]:
    """Return the proofs of a record, newest last."""
    return [Proof.from_json({"cause": "", **kept}) for kept in record.proofs]


def is_confirmed(record: PageRecord, causes: Collection[str], by: float) -> bool:
    """Tell whether a page is gone already, or hidden ``by`` then at the latest, for such a cause.

    Records of an earlier format have no cause; then it was one of these.
    """
    if record.cause not in {"", *causes}:
        return False
    if record.status == Status.HIDDEN:
        return first_found(record, causes) <= by
    return record.status == Status.GONE


def first_found(record: PageRecord, causes: Collection[str]) -> float:
    """Return when a page was first found to be as it still is for one of the causes; 0: not known.

    Records of an earlier format have no proofs.
    """
    found = (proof.first for proof in all_of(record) if proof.cause in causes and not proof.over)
    return min(found, default=0.0)


def stands_by(record: PageRecord, now: float) -> bool:
    """Tell whether a page that was published keeps its status when another thing answers for it.

    One that has left the answers does, until nothing of its own was read for long: it may be
    back, and would not be looked at as often under another status.
    """
    if record.status in {Status.HIDDEN, Status.GONE}:
        lasting = record.failures >= LASTING_RUNS - 1
        return not (lasting and now - record.failing_since >= LASTING_SECS)
    return record.status == Status.LIVE


def lasts(record: PageRecord, target: str, now: float) -> bool:
    """Tell whether a page that redirects to ``target`` for the time being has done so for long.

    This time is not counted among its proofs yet.
    """
    return any(
        proof.cause == Cause.FOR_NOW
        and not proof.over
        and proof.target == target[:MAX_SHOWN]
        and proof.runs >= LASTING_RUNS - 1
        and now - proof.first >= LASTING_SECS
        for proof in all_of(record)
    )


def _stored(proofs: Iterable[Proof]) -> list[dict[str, Any]]:
    return [proof.to_json() for proof in proofs]
