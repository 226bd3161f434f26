"""One site seen from outside: all judgements over what it answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freshcrawl.doctor import Check, warn
from freshcrawl.doctor.access import access_checks
from freshcrawl.doctor.listing import listing_checks
from freshcrawl.doctor.page import page_checks

if TYPE_CHECKING:
    from freshcrawl.doctor.findings import Findings


def site_checks(findings: Findings) -> list[Check]:
    """Judge what a site answered; what follows from an earlier failure is left out."""
    checks = access_checks(findings)
    asked = findings.robots
    if findings.error or asked is None or asked.problem:
        return checks
    if findings.policy is not None and findings.policy.problem:
        return checks
    if findings.late:
        what = "there was no time to ask for everything: the site answers slowly"
        checks.append(warn("time", what, "run scrapy doctor again"))
    return [*checks, *page_checks(findings), *listing_checks(findings)]
