"""Two findings about a page: do they come to the same?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from freshcrawl.core.pages import Cause, Status
from freshcrawl.core.simhash import hamming
from freshcrawl.core.trust import NEAR_BITS

if TYPE_CHECKING:
    from freshcrawl.core.published import Staged

DEAD = frozenset({Cause.NOT_FOUND, Cause.GONE})
"""404 and 410, of which many servers send now one and now the other."""


def same_work(one: Staged, other: Staged) -> bool:
    """Tell whether two findings about a page come to the same.

    A page that leaves does so for the same cause. Texts that differ in what is another in each
    answer (a time, a counter, rotating links) do: else a page that has such could never be found
    again.
    """
    if Status.LIVE not in {one.status, other.status}:
        return _same_cause(one, other)
    if one.status != other.status or one.digest == other.digest:
        return one.status == other.status
    if not (one.digest and other.digest):
        return False
    same_gist = bool(one.gist) and one.gist == other.gist
    known = bool(one.simhash and other.simhash)
    return same_gist or (known and hamming(one.simhash, other.simhash) <= NEAR_BITS)


def _same_cause(one: Staged, other: Staged) -> bool:
    if not (one.cause and other.cause):  # work of before causes were kept
        return one.status == other.status
    return same_cause(one.cause, other.cause)


def same_cause(one: str, other: str) -> bool:
    """Tell whether two causes for which a page leaves come to the same."""
    return one == other or {one, other} <= DEAD
