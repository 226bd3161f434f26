"""When a run that could check none of the live pages says so, and why."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from freshcrawl.core.pages import Verdict
from tests.support.runs import Bench, key_of

NAMES = tuple(f"p{number:02}" for number in range(12))
SOME = NAMES[:2]
DAY = 86_400.0
STORIES: dict[str, tuple[int, list[dict[str, str]], list[str]]] = {
    # name: (pages of the site, verdict by page for each run, reason of each run)
    "all fail, first time and again": (
        12,
        [dict.fromkeys(NAMES, "failed")] * 3,
        ["none of 12 live pages that were due could be checked (HTTP 500)"] * 3,
    ),
    "a site that is down for days, whose pages come due by and by": (
        12,
        [
            dict.fromkeys(NAMES[:5], "failed"),
            dict.fromkeys(NAMES[:5], "failed"),
            dict.fromkeys(NAMES[:7], "failed"),
            dict.fromkeys(NAMES[2:4], "failed"),
        ],
        [
            f"none of {number} live pages that were due could be checked (HTTP 500)"
            for number in (5, 5, 7, 2)
        ],
    ),
    "two are broken for good: their later runs of their own say nothing of the site": (
        12,
        [dict.fromkeys(NAMES, "unchanged") | dict.fromkeys(SOME, "failed")]
        + [dict.fromkeys(SOME, "failed")] * 3,
        [""] * 4,
    ),
    "the broken ones began when nothing else was looked at; known once another page was checked": (
        12,
        [
            dict.fromkeys(SOME, "failed"),
            dict.fromkeys(SOME, "failed"),
            {"p11": "unchanged"},
            dict.fromkeys(SOME, "failed"),
        ],
        [*["none of 2 live pages that were due could be checked (HTTP 500)"] * 2, "", ""],
    ),
    "the site goes down while two are broken": (
        12,
        [
            dict.fromkeys(NAMES, "unchanged") | dict.fromkeys(SOME, "failed"),
            dict.fromkeys(NAMES[:6], "failed"),
        ],
        ["", "none of 6 live pages that were due could be checked (HTTP 500)"],
    ),
    "one more fails beside those that are broken": (
        12,
        [
            dict.fromkeys(NAMES, "unchanged") | dict.fromkeys(SOME, "failed"),
            dict.fromkeys(NAMES[:3], "failed"),
        ],
        ["", ""],
    ),
    "broken, mended, and down with the rest": (
        12,
        [
            dict.fromkeys(NAMES, "unchanged") | dict.fromkeys(SOME, "failed"),
            dict.fromkeys(NAMES, "unchanged"),
            dict.fromkeys(SOME, "failed"),
        ],
        ["", "", "none of 2 live pages that were due could be checked (HTTP 500)"],
    ),
    "one of many may fail by itself": (12, [{"p00": "failed"}] * 2, ["", ""]),
    "one page that answered is enough": (
        3,
        [{"p00": "failed", "p01": "rejected", "p02": "unchanged"}],
        [""],
    ),
    "the only page": (
        1,
        [{"p00": "failed"}] * 2,
        ["the live page that was due could not be checked (HTTP 500)"] * 2,
    ),
    "a login page in the place of all": (
        3,
        [dict.fromkeys(NAMES[:3], "rejected")],
        ["none of 3 live pages that were due could be checked (HTTP 500)"],
    ),
    "robots.txt forbids some, which alone are due": (
        12,
        [dict.fromkeys(SOME, "forbidden")] * 2,
        ["", ""],
    ),
    "robots.txt forbids some, one of the others fails": (
        12,
        [dict.fromkeys(SOME, "forbidden") | {"p02": "failed"}],
        [""],
    ),
    "robots.txt forbids some, the others fail": (
        12,
        [dict.fromkeys(NAMES, "failed") | dict.fromkeys(SOME, "forbidden")],
        ["none of 12 live pages that were due could be checked (HTTP 500)"],
    ),
    "robots.txt forbids all": (
        3,
        [dict.fromkeys(NAMES[:3], "forbidden")] * 2,
        ["none of 3 live pages that were due could be checked (HTTP 500)"] * 2,
    ),
    "nothing was asked for": (3, [{}], [""]),
}


@pytest.mark.parametrize("name", STORIES)
def test_failures_of_all_that_was_due_are_the_site_s(name: str) -> None:
    pages, runs, reasons = STORIES[name]
    bench = Bench()
    bench.publish(*NAMES[:pages])
    found = []
    for verdicts in runs:
        bench.clock.time += 100_000.0
        run = bench.run()
        for page, verdict in verdicts.items():
            key = key_of(page)
            assert run.take(key, confirm=True)
            changes: dict[str, Any] = {"reason": "HTTP 500"}
            if forbidden := verdict == "forbidden":
                changes["last_checked"] = run.ledger.pages[key].last_checked
            run.checked(key, Verdict.EXCLUDED if forbidden else Verdict(verdict), **changes)
        run.finish("finished")
        run.commit()
        found.append("; ".join(run.report.incomplete_reasons))
    assert found == reasons


@pytest.mark.parametrize(("broken", "cycles"), list(product([1, 2, 5], [1, 4])))
def test_pages_that_are_always_broken_leave_the_later_runs_complete(
    broken: int, cycles: int
) -> None:
    """Run what is due each hour, as a timer would: the site works, some of its pages do not."""
    bench = Bench()
    bench.publish(*NAMES)
    bench.clock.time += DAY
    complete = []
    for _ in range(24 * cycles):
        run = bench.run()
        for key in run.due_keys():
            assert run.take(key)
            bad = key in map(key_of, NAMES[:broken])
            run.checked(key, Verdict.FAILED if bad else Verdict.UNCHANGED, reason="HTTP 500")
        run.finish("finished")
        run.commit()
        complete.append(run.report.complete)
        bench.clock.time += 3_600.0
    assert all(complete)
