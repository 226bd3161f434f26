"""What is said of one page, for every kind of record: plain words, and nothing that is not so."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.config import ConfigError
from freshcrawl.core.listings import Source
from freshcrawl.core.pages import PageRecord, Status, Verdict
from freshcrawl.core.published import Edit, Published, Staged
from freshcrawl.core.report import RunReport
from freshcrawl.core.schedule import SchedulePolicy
from freshcrawl.explanation import explain, page_lines
from freshcrawl.site_tables import make_site
from freshcrawl.state import open_in_memory
from freshcrawl.unknown_pages import why_unknown
from tests.support.runs import ROOT, Bench, key_of

if TYPE_CHECKING:
    from freshcrawl.state import SiteState

HOUR, DAY = 3_600.0, 86_400.0
NOW, POLICY = 10_000_000.0, SchedulePolicy()
SITE = make_site({"name": "docs", "url": ROOT}, "test")
CHECKED: dict[str, Any] = {
    "status": Status.LIVE, "last_checked": NOW - HOUR, "last_attempt": NOW - HOUR, "checks": 4,
    "changes": 1, "interval": 3 * DAY, "next_due": NOW + 2 * DAY, "last_verdict": "unchanged",
}  # fmt: skip
FAILING = {**CHECKED, "last_checked": NOW - 5 * DAY, "failures": 2, "last_verdict": "failed"}
DIFFERENCE = {
    "verdict": "changed", "at": NOW - HOUR, "grade": "minor", "reason": "differs in 1 block of 9",
    "tokens": [["1", "2"]],
}  # fmt: skip
GONE = Staged(key_of("a"), f"{ROOT}a", Status.GONE, "gone", NOW, reason="410")
TEXT = Staged(key_of("a"), f"{ROOT}a", Status.LIVE, "changed", NOW)


def state_with(record: PageRecord | None, staged: Staged | None = None) -> SiteState:
    state = open_in_memory("docs")
    state.records.put("meta:site", SITE.to_json())
    if record is not None:
        state.records.put(f"page:{record.key}", record.to_json())
    if staged is not None:
        state.records.put(f"staged:{staged.key}", staged.to_json())
    return state


def words_of(values: dict[str, Any], staged: Staged | None = None) -> str:
    record = PageRecord(key_of("a"), f"{ROOT}a", **values)
    found = explain(state_with(record, staged), f"{ROOT}a", NOW, POLICY)
    assert found is not None
    return "\n".join(page_lines(found, NOW))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, ["pending; not in the answers", "never checked", "first check due now"]),
        ({}, ["no sitemap or page links to it any more\n"]),
        (CHECKED, ["checked 60 min ago (1970", ": unchanged; 4 checks, 1 change", "every 3 d"]),
        (CHECKED, ["next check in 2 d (1970-", "finds no change doubles that"]),
        ({**CHECKED, "last_verdict": Verdict.CHANGED}, ["each change that is found halves that"]),
        ({**CHECKED, "last_verdict": Verdict.NEW, "checks": 1}, ["1 check,", "not all come at"]),
        ({**CHECKED, "left_out": True}, ["not asked for any more"]),
        ({**CHECKED, "next_due": NOW - 1}, ["due now; checked every 3 d"]),
        ({**CHECKED, "size": 2_500}, ["2.5 kB when last read"]),
        ({**CHECKED, "missing_runs": 1}, ["links to it any more, as 1 run found"]),
        ({**CHECKED, "etag": '"x"'}, ['ETag "x", Last-Modified -']),
        ({**CHECKED, "generator": "mdbook"}, ["main content found by the rule mdbook"]),
        ({**CHECKED, "generator": "body"}, ["so the whole body; the site has no boilerplate"]),
        ({**CHECKED, "last_checked": NOW - 61 * DAY}, ["stale: not checked for longer than max_"]),
        ({**FAILING, "reason": "HTTP 503"}, ["live (HTTP 503)", "stale: HTTP 503"]),
        (FAILING, ["checked 5 d ago", "; tried 60 min ago", ": failed;", "2 failures in a row"]),
        (FAILING, ["sooner while checks fail"]),
        (
            {**FAILING, "status": Status.PENDING, "last_checked": 0.0, "checks": 2},
            ["never checked with success; tried 60 min ago"],
        ),
        ({**CHECKED, "status": Status.GONE, "last_verdict": "gone"}, ["probed less and less"]),
        ({**CHECKED, "status": Status.HIDDEN, "last_verdict": "gone"}, ["at least once a day"]),
        ({**CHECKED, "status": Status.HIDDEN, "last_verdict": "gone"}, [": hidden; 4 checks"]),
        (
            {**CHECKED, "churn": 3, "difference": DIFFERENCE, "last_verdict": "changed"},
            [f'changes on every run: {ROOT}a (3 checks in a row): "1" -> "2"'],
        ),
        (
            {**CHECKED, "difference": DIFFERENCE},
            ["last difference 60 min ago (1970", "): changed, minor; differs in 1 block of 9:"],
        ),
        ({**CHECKED, "difference": {**DIFFERENCE, "tokens": []}}, ["changed, minor; differs in 1"]),
    ],
)  # fmt: skip
def test_words(values: dict[str, Any], expected: list[str]) -> None:
    text = words_of(values)
    for words in expected:
        assert words in text
    for odd in ("None", " 0 s", "0 runs", "1 runs", "1 checks", "ago ago"):
        assert odd not in text
    assert ("changes on every run" in text) == ("churn" in values)


def test_page_that_left_has_not_changed() -> None:
    record = PageRecord(key_of("a"), f"{ROOT}a", **{**CHECKED, "status": Status.HIDDEN})
    state = state_with(record)
    state.corpus.publish(
        [Edit(Published(record.key, record.url, Status.HIDDEN, changed_at=NOW - DAY))],
        run_id="r", model="m", dimension=1, published_at=NOW - DAY, build=lambda snapshot: None,
    )  # fmt: skip
    found = explain(state, record.url, NOW, POLICY)
    assert found is not None
    text = "\n".join(page_lines(found, NOW))
    assert "  left the answers 24 h ago (1970" in text
    assert "indexed" not in text


@pytest.mark.parametrize(
    ("staged", "words"),
    [
        (
            replace(GONE, held="removals", held_runs=[1.0]),
            "held, waits for confirmation: one of many removals; would leave the answers "
            "(gone: 410), found by 1 run; later runs that find the same, far enough apart, let it "
            f"go by themselves. To let it go: scrapy approve --site docs {ROOT}a; "
            f"to keep the page as it is: scrapy discard --site docs {ROOT}a",
        ),
        (
            replace(TEXT, held="changes", held_runs=[1.0, 2.0]),
            "held, waits for confirmation: one of many changes; its text would change, "
            "found by 2 runs; later",
        ),
        (
            replace(GONE, held="removals", person="marked noindex"),
            "found by 1 run; marked noindex: a person must decide. To let it go",
        ),
        (GONE, "a later run publishes what was found: would leave the answers (gone: 410)"),
        (TEXT, "a later run publishes what was found: new text"),
        (
            replace(TEXT, released=True),
            "found, and waiting for vectors: new text; they come with the next run, or by scrapy",
        ),
    ],
)
def test_words_of_what_waits(staged: Staged, words: str) -> None:
    assert words in words_of(CHECKED, staged)


def test_a_page_whose_change_is_held_is_due_in_every_run() -> None:
    text = words_of(CHECKED, replace(GONE, held="removals", held_runs=[NOW - HOUR]))
    assert "due now; checked every 3 d, and by every run while a change is held" in text


def test_what_a_person_discarded() -> None:
    text = words_of({**CHECKED, "discarded": {"status": "gone", "reason": "410", "at": NOW - HOUR}})
    assert "stale: kept by a person: removal discarded (410)" in text
    assert "discarded 60 min ago (1970-" in text
    assert f"to take that back: scrapy approve --site docs {ROOT}a\n" in text


def test_words_of_what_is_published() -> None:
    bench = Bench()
    bench.publish("a")
    bench.state.records.put("meta:site", SITE.to_json())
    source = Source("sitemap:s.xml", "sitemap_root", bench.clock.time)
    bench.state.records.put("source:sitemap:s.xml", source.to_json())
    bench.state.records.put("listing:sitemap:s.xml", {"keys": [key_of("a")]})
    found = explain(bench.state, f"{ROOT}a", bench.clock.time + 2 * HOUR, POLICY)
    assert found is not None
    text = "\n".join(page_lines(found, bench.clock.time + 2 * HOUR))
    assert "listed by sitemap:s.xml, read 2 h ago (1970" in text


def reported(*reasons: str, kind: str = "sitemap_root", runs: int = 1) -> SiteState:
    state = state_with(None)
    source = Source("s", kind, NOW)
    state.records.put("source:s", source.to_json())
    for number in range(runs):
        report = RunReport(f"r{number}", NOW, incomplete_reasons=list(reasons))
        state.records.put(f"run:{report.run_id}", report.to_json())
    return state


@pytest.mark.parametrize(
    ("url", "state", "words"),
    [
        (f"{ROOT}x", None, "a page of docs, but that is not crawled yet: scrapy crawl docs"),
        (f"{ROOT}x", reported(runs=0), "not crawled yet"),
        (f"{ROOT}x", reported(), "its sitemaps do not list it"),
        (f"{ROOT}x", reported(kind="page"), "no page that was read links to it"),
        (f"{ROOT}x", reported("sitemap s: HTTP 500"), "see the whole site: sitemap s: HTTP"),
        ("https://other.example.com/x", reported(), f"it is below none of docs ({ROOT})"),
    ],
)  # fmt: skip
def test_why_a_page_is_not_known(url: str, state: SiteState | None, words: str) -> None:
    states = {} if state is None else {"docs": state}
    assert words in why_unknown(url, {"docs": SITE}, states)


def test_the_narrowest_site_is_named_and_none_at_all() -> None:
    inner = make_site({"name": "inner", "url": f"{ROOT}api/"}, "test")
    sites = {"docs": SITE, "inner": inner}
    assert "a page of inner" in why_unknown(f"{ROOT}api/x", sites, {})
    assert "a page of docs" in why_unknown(f"{ROOT}x", sites, {})
    assert "there is none yet" in why_unknown(f"{ROOT}x", {}, {})


def test_what_is_no_url_is_an_error_of_usage() -> None:
    with pytest.raises(ConfigError, match="give the URL of a page"):
        explain(state_with(None), "ftp://x", NOW, POLICY)
