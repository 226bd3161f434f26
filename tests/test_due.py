"""Is a page due? Runs, `due`, `status`, `explain` and the timer's crawl give one answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.commands.due import queue
from freshcrawl.explanation import explain
from freshcrawl.site_status import listed, site_status
from tests.support.origin import Answer, Origin, page
from tests.support.project import scrapy
from tests.support.runs import ROOT, Bench, key_of, removal

if TYPE_CHECKING:
    from pathlib import Path

HOUR = 3_600.0
DAY = 24 * HOUR


@pytest.mark.parametrize("failures", [0, 2])
@pytest.mark.parametrize("held", ["", "removals"])
@pytest.mark.parametrize("hours_ago", [1, 11.9, 12, 40])
@pytest.mark.parametrize("next_due", [-1.0, 1.0])
@pytest.mark.parametrize("age_days", [0.5, 6.2, 6.4])
def test_every_part_says_the_same(
    *, failures: int, held: str, hours_ago: float, next_due: float, age_days: float
) -> None:
    bench = Bench(settings={"max_age_secs": 7 * DAY})
    bench.clock.time = 10_000_000.0
    bench.publish("a")
    now = bench.clock.time
    run = bench.run()
    changes: dict[str, Any] = {
        "failures": failures, "next_due": now + next_due, "last_attempt": now - age_days * DAY,
    }  # fmt: skip
    run.ledger.set(key_of("a"), **changes)
    run.stage(removal("a"))
    run.ledger.staged[key_of("a")].held_runs = [now - hours_ago * HOUR]
    run.ledger.mark_held(key_of("a"), held or "changes")
    if not held:
        run.ledger.unstage(key_of("a"))
    run.commit()
    again = bench.run()
    policy = again.schedule
    [row] = queue(bench.state, now, policy)
    explained = explain(bench.state, f"{ROOT}a", now, policy)
    assert explained is not None
    answers = {
        "run": again.is_due(key_of("a")),
        "due": row["due"],
        "explain": explained["due"],
        "status": site_status(bench.state, now, policy)["due"] == 1,
        "status --pages due": len(listed(bench.state, "due", now, policy)) == 1,
    }
    assert answers == dict.fromkeys(answers, bool(held) or next_due < 0 or age_days > 6.3)
    assert row["next_due"] == explained["next_due"]


def test_the_timer_looks_at_held_pages_when_that_can_confirm_them(state: Path) -> None:
    paths = [f"/p{number}" for number in range(12)]
    with Origin() as origin:
        for path in paths:
            origin[path] = page(path, f"The text of {path}.")
        origin.serve_sitemap(*paths)

        def run(*args: str, hours: float) -> tuple[int, str]:
            done = scrapy(
                *args,
                state=state,
                clock_offset_s=hours * HOUR,
                settings={"FRESHCRAWL_DISCOVERY_INTERVAL_SECS": 30 * DAY},
            )
            return done.returncode, done.stdout

        url = f"url={origin.url}"
        assert run("crawl", "docs", "-a", url, hours=0)[0] == 0
        for path in paths[:7]:
            origin[path] = Answer(status=410)
        assert run("crawl", "docs", "-a", url, "-a", "full=1", hours=1)[0] == 3
        origin.paths()
        assert run("crawl", "docs", hours=12) == (0, "nothing is due\n")
        assert len(json.loads(run("due", "--json", hours=12)[1])) == 7, "whatever run comes"
        assert len(json.loads(run("due", "--json", hours=14)[1])) == 7
        assert run("crawl", "docs", hours=14)[0] == 3
        asked = {path for path in origin.paths() if path in paths}
        assert run("status", "--check", hours=14)[0] == 3
        code, out = run("approve", "removals", hours=14)
        assert (code, out.splitlines()[0].partition("; ")[0]) == (
            0, f"127.0.0.1-{origin.port}: 7 held pages approved",
        )  # fmt: skip
        assert run("status", "--check", hours=14)[0] == 0
        assert run("verify", hours=14)[0] == 0
        assert not origin.paths(), "nothing was asked of the site"
    assert asked == set(paths[:7])
