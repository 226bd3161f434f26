"""What needs attention, in words, with what to do."""

from __future__ import annotations

from typing import Any

import pytest

from freshcrawl import cli
from freshcrawl.commands.status import CODES
from freshcrawl.config import Config
from freshcrawl.core.guards import Unwell
from freshcrawl.core.report import RunReport
from freshcrawl.core.schedule import SchedulePolicy
from freshcrawl.problems import Kind, Problem, run_remedies, site_problems
from freshcrawl.site_status import site_status
from freshcrawl.state import open_in_memory
from freshcrawl.summary import release_command

NOW = 1_700_000_000.0
HOUR = 3_600.0
CRAWL = "scrapy crawl docs -a site=docs"
HELD = {"held": 9, "held_classes": ["removals"], "held_confirmed": 1}


def contract(**values: Any) -> dict[str, Any]:
    given = {"status": "ok", "finish_reason": "finished", **values}
    given.setdefault("complete", not given.get("incomplete_reasons"))
    return RunReport("r", NOW - HOUR, NOW - HOUR + 60, **given).as_contract()


def problems(
    run: dict[str, Any] | None = None,
    hours: float = 168,
    webhook: str = "https://hooks.test/",
    **status: Any,
) -> list[Problem]:
    base = site_status(open_in_memory("docs"), NOW, SchedulePolicy())
    last = {"last_run": contract(**(run or {}))}
    return site_problems(
        {**base, **last, **status}, NOW, Config(check_run_hours=hours, webhook_url=webhook)
    )


def told(*args: Any, **kwargs: Any) -> list[tuple[int, str, str]]:
    return [(CODES[p.kind], p.words, p.remedy) for p in problems(*args, **kwargs)]


def test_all_is_well() -> None:
    assert problems() == []
    assert problems({"status": "running", "complete": False}, hours=0.5) == []
    assert problems(hours=0) == []


@pytest.mark.parametrize(
    ("run", "code", "words", "remedy"),
    [
        (
            {"status": "failed", "error": "the disk is full"},
            cli.ERROR, "the last run failed: the disk is full", f"mend that, then {CRAWL}",
        ),
        (
            {"status": "killed", "complete": False, "finish_reason": ""},
            cli.ERROR, "the last run was killed", f"nothing is lost, the next one goes on: {CRAWL}",
        ),
        (
            {"finish_reason": "shutdown", "incomplete_reasons": ["the run ended early (shutdown)"]},
            cli.INCOMPLETE, "the last run was ended by shutdown", f"the next one goes on: {CRAWL}",
        ),
        (
            {"incomplete_reasons": ["sitemap: 500", "robots: 503"]},
            cli.INCOMPLETE, "the last run was incomplete: sitemap: 500; robots: 503",
            f"the next one tries again: {CRAWL}",
        ),
    ],
)  # fmt: skip
def test_runs(run: dict[str, Any], code: int, words: str, remedy: str) -> None:
    assert told(run) == [(code, words, remedy)]
    assert run_remedies(contract(**run), "docs") == [remedy]


def test_no_run_for_long() -> None:
    [(code, words, _)] = told(hours=0.5)
    assert (code, words) == (cli.ERROR, "no run for 60 min (FRESHCRAWL_CHECK_RUN_HOURS is 0.5)")


def test_held_work_says_whether_it_goes_by_itself() -> None:
    release = release_command("docs")
    [(code, words, remedy)] = told(**HELD, held_reasons=["too many removals at once"])
    assert code == cli.HELD
    assert words == (
        "9 pages held: too many removals at once; goes by itself once 2 later runs, at least 12 h "
        "apart, find the same (1 of 2 so far)"
    )
    assert remedy == (
        f"look: scrapy status --site docs --pages held; let go: {release}; "
        "keep as it is: scrapy discard --site docs"
    )
    [(_, words, _)] = told(**HELD, held_reasons=["7 pages marked: a person must decide"])
    assert "a person must decide; the others go by themselves once 2 later runs" in words
    person = {**HELD, "held_confirmed": None}
    [(_, words, _)] = told(**person, held_reasons=["more than half: a person must decide"])
    assert words == "9 pages held: more than half: a person must decide"
    sick = Unwell(8, 20).reason
    [(_, words, _)] = told(**HELD, held_reasons=[sick])
    assert words == f"9 pages held: {sick}", "the next run that is well lets it go"
    del person["held_confirmed"]
    assert run_remedies(contract(**person, held_reasons=["x"]), "docs") == [remedy]


def test_rolled_back() -> None:
    [found] = told(pinned="rolled back to generation 2", held=4, held_reasons=["x"])
    assert found == (
        cli.HELD, "rolled back to generation 2", "scrapy rollback --release --site docs"
    )  # fmt: skip


def test_never_crawled() -> None:
    assert told(last_run=None) == [(cli.INCOMPLETE, "it was never crawled", CRAWL)]


def test_stale_pages_and_the_webhook_come_last() -> None:
    alerts = {"waiting": 7, "failing": 2, "attempts": 9, "dead": 5, "problem": "answered 500"}
    found = told(
        {"incomplete_reasons": ["x"]},
        stale=3,
        stale_reasons={"HTTP 503": 2, "timeout": 1},
        alerts=alerts,
        **HELD,
        held_reasons=["y"],
    )
    assert [code for code, _, _ in found] == [cli.HELD, *[cli.INCOMPLETE] * 4]
    assert [words for _, words, _ in found[2:]] == [
        "3 pages stale (2 HTTP 503; 1 timeout)",
        "5 events could not be delivered by webhook",
        "the webhook fails (answered 500): 7 events wait, 9 attempts failed",
    ]
    assert "scrapy alerts --resend all --site docs" in found[3][2]
    assert "scrapy alerts --send --site docs" in found[4][2]


def test_events_that_wait_for_a_webhook_that_is_no_more() -> None:
    alerts = {"waiting": 1, "failing": 0, "attempts": 0, "dead": 0, "problem": ""}
    assert told(alerts=alerts) == []
    assert told(alerts=alerts, webhook="") == [
        (
            cli.INCOMPLETE,
            "1 event waits for a webhook, and FRESHCRAWL_WEBHOOK_URL is not set",
            "set it, or drop them: scrapy alerts --drop all --site docs",
        )
    ]
    failing = {**alerts, "failing": 1, "attempts": 3, "problem": "answered 404"}
    [(_, words, _)] = told(alerts=failing, webhook="")
    assert words.startswith("1 event waits for a webhook")
    [(_, words, _)] = told(alerts=failing)
    assert words == "the webhook fails (answered 404): 1 event waits, 3 attempts failed"


def test_pages_that_are_stale_by_decision_are_none() -> None:
    decided = {"kept by a person: new text discarded": 2, 'gone; kept by gone = "keep"': 1}
    stale = {"stale": 6, "stale_reasons": {"HTTP 503": 3, **decided}}
    [(_, words, _)] = told(**stale, stale_decided={**decided, "HTTP 503": 1})
    assert words == "2 pages stale (2 HTTP 503)"
    assert told(**stale, stale_decided=stale["stale_reasons"]) == []


def test_every_kind_has_its_code() -> None:
    assert CODES.keys() == set(Kind)
    codes = [cli.SERIOUSNESS.index(CODES[kind]) for kind in Kind]
    assert codes == sorted(codes)
