"""``scrapy verify``: whether a site's files agree with each other, and how to heal them.

``verify`` compares, ``Repair`` heals; what is ``damage`` and what only unfinished is told apart,
so that a state on which ``damages(verify(state, embedder))`` is empty is as it should be.
"""

from freshcrawl.verify.checking import verify, verify_folder
from freshcrawl.verify.findings import Finding, Kind, damages

__all__ = ["Finding", "Kind", "damages", "verify", "verify_folder"]
