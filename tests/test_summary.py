"""A run's end in plain words."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from typing import Any

import pytest

from freshcrawl.core.report import URLS_KEPT, RunReport
from freshcrawl.summary import amount, run_summary, some


def report(**values: Any) -> RunReport:
    given = {"status": "ok", "complete": not values.get("incomplete_reasons"), **values}
    return RunReport("r", 100.0, 161.25, **{"finish_reason": "finished", **given})


def lines_of(**values: Any) -> list[str]:
    return run_summary(report(**values).as_contract(), "mako")


def text_of(**values: Any) -> str:
    return "\n".join(lines_of(**values))


def test_a_recrawl_in_full() -> None:
    run = report(
        generation=4, discovered=13, asked=13, fetched=13, not_modified=11, changed=1, new=1,
        unchanged=11, excluded=2, chunks_embedded=3, chunks_reused=12, chunks_removed=2,
        recrawl_requests=13, recrawl_bytes=1_400_000, recrawl_chunks=243, page_bytes=200_000,
        bytes_downloaded=61_000, urls={"new": ["http://a/n"], "changed": ["http://a/c"]},
        stale=3, stale_reasons={"HTTP 503": 2, "TimeoutError": 1},
        changing=[{"url": "http://a/now", "runs": 5, "tokens": [["12:31:07", "12:33:09"]]}],
    )  # fmt: skip
    assert run_summary(run.as_contract(), "mako") == [
        "mako: complete, 61.2 s, generation 4",
        "  13 pages listed: 13 asked for, 11 of them answered 304; 61.0 kB received",
        "  1 changed, 1 new, 11 unchanged, 2 excluded",
        "  3 passages embedded, 12 passages reused, 2 passages left the answers",
        "  saved against a full recrawl: 11 of 13 page downloads, 1.2 of 1.4 MB, "
        "240 of 243 embeddings",
        "  new: http://a/n",
        "  changed: http://a/c",
        "  stale: 3 pages (HTTP 503: 2, TimeoutError: 1): they answer with their last text",
        '  changes on every run: http://a/now (5 checks in a row): "12:31:07" -> "12:33:09"',
        "    name what changes in drop or volatile_patterns of the site",
    ]


def test_a_run_without_work_is_short() -> None:
    assert lines_of(discovered=3, not_due=3, generation=1) == [
        "mako: complete, 61.2 s, generation 1",
        "  3 pages listed: 3 not due, none asked for",
    ]


@pytest.mark.parametrize(
    ("values", "first"),
    [
        ({}, "complete"),
        ({"held": 9}, "complete, 9 held"),
        ({"incomplete_reasons": ["x"]}, "incomplete"),
        ({"incomplete_reasons": ["x"], "held": 2}, "incomplete, 2 held"),
        (
            {"incomplete_reasons": ["the run ended early (shutdown)"], "finish_reason": "shutdown"},
            "stopped early",
        ),
        ({"status": "failed", "incomplete_reasons": ["x"]}, "failed"),
        ({"status": "killed", "incomplete_reasons": ["x"]}, "killed"),
        ({"status": "running", "complete": False}, "running"),
        ({"dry_run": True}, "dry run, nothing stored: complete"),
    ],
)
def test_the_first_line_says_once_how_it_ended(values: dict[str, Any], first: str) -> None:
    lines = lines_of(**values)
    assert lines[0].startswith(f"mako: {first}, ")
    assert "ok" not in lines[0]
    assert "ended early" not in "\n".join(lines)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("discovered", "7 pages listed"),
        ("not_due", "7 not due"),
        ("asked", "7 asked for"),
        ("not_modified", "7 of them answered 304"),
        ("new", "7 new"),
        ("changed", "7 changed"),
        ("links_only", "7 with new link targets only"),
        ("unchanged", "7 unchanged"),
        ("missing", "7 still there though no sitemap or page links to them any more"),
        ("excluded", "7 excluded"),
        ("moved", "7 moved"),
        ("gone", "7 gone"),
        ("hidden", "7 hidden"),
        ("dead", "7 dead links"),
        ("rejected", "7 rejected"),
        ("failed", "7 failed"),
        ("chunks_embedded", "7 passages embedded"),
        ("chunks_reused", "7 passages reused"),
        ("chunks_removed", "7 passages left the answers"),
        ("chunks_to_embed", "7 passages would have to be embedded"),
        ("bytes_downloaded", "7 bytes received"),
        ("generation", "generation 7"),
    ],
)
def test_every_counter_is_named_and_nothing_that_is_zero(name: str, words: str) -> None:
    assert words in text_of(**{name: 7})
    assert words.partition(" ")[2] not in text_of() or name in {"discovered", "asked"}


def test_no_number_is_negative() -> None:
    counters = [f.name for f in fields(RunReport) if f.type == "int" and f.default is not MISSING]
    for name in counters:
        assert not re.search(r"(^| )-\d", text_of(**{name: 1}))


WHOLE = {"recrawl_requests": 10, "recrawl_bytes": 1_000, "recrawl_chunks": 50}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, "10 of 10 page requests, 10 of 10 page downloads, 1.0 of 1.0 kB, 50 of 50 embeddings"),
        ({"asked": 10, "not_modified": 10}, "10 of 10 page downloads, 1.0 of"),
        ({"asked": 4}, "6 of 10 page requests, 6 of 10 page downloads"),
        ({"asked": 99, "page_bytes": 9_999, "chunks_embedded": 1}, ": 49 of 50 embeddings"),
        ({"asked": 99, "page_bytes": 9_999, "chunks_embedded": 99}, ""),
        ({"first_crawl": True}, ""),
        ({"dry_run": True}, ""),
        ({"finish_reason": "shutdown"}, ""),
        ({"finish_reason": "failed", "status": "failed"}, ""),
        ({"incomplete_reasons": ["robots.txt unavailable"]}, ""),
        ({"incomplete_reasons": ["sitemap a: HTTP 500"], "asked": 9, "page_bytes": 999}, "1 of 10"),
    ],
)  # fmt: skip
def test_savings_are_told_only_where_the_comparison_is_fair(
    values: dict[str, Any], words: str
) -> None:
    text = text_of(**WHOLE, **values)
    assert words in text
    assert ("saved against" in text) == bool(words)
    run = report(**WHOLE, **values).as_contract()
    for part, whole in (("requests", 10), ("downloads", 10), ("bytes", 1_000), ("chunks", 50)):
        assert 0 <= run[f"saved_{part}"] <= whole


def test_what_is_found_and_held_is_not_said_to_have_left() -> None:
    text = text_of(gone=1, hidden=7, changed=2, held=4, held_verdicts={"gone": 1, "hidden": 3})
    assert "2 changed, 1 gone (held), 7 hidden (3 of them held)\n" in text


def test_what_is_held_what_is_incomplete_and_what_failed() -> None:
    lines = lines_of(
        held=9,
        held_reasons=["too many removals at once (9 of 20 live pages would leave the answers)"],
        held_classes=["removals"],
        incomplete_reasons=["sitemap a: HTTP 500", "robots.txt unavailable (HTTP 503)"],
        error="no space left on device",
    )
    assert lines[2:] == [
        "  held, waits for confirmation: too many removals at once (9 of 20 live pages would leave "
        "the answers). To look: scrapy status --site mako --pages held; to let them go: "
        "scrapy approve --site mako; to keep the pages as they are: scrapy discard --site mako",
        "  incomplete: sitemap a: HTTP 500; robots.txt unavailable (HTTP 503)",
        "  error: no space left on device",
    ]


def test_a_dry_run_names_no_command_that_would_find_nothing() -> None:
    text = text_of(dry_run=True, held=9, held_reasons=["9 of 20"], held_classes=["removals"])
    assert "held, waits for confirmation: 9 of 20" in text
    assert "--pages" not in text


def test_a_stopped_run_says_how_to_go_on() -> None:
    assert "scrapy crawl docs -a site=mako" in lines_of(finish_reason="shutdown")[-1]


def test_pages_are_named_by_verdict_some_here_and_more_in_the_report() -> None:
    run = report(changed=30, gone=1)
    found = {f"http://a/{number:02}": "changed" for number in range(30)}
    run.name_pages({**found, "http://a/x": "gone", "http://a/y": "unchanged", "http://a/z": ""})
    assert {kind: len(urls) for kind, urls in run.urls.items()} == {"changed": URLS_KEPT, "gone": 1}
    text = "\n".join(run_summary(run.as_contract(), "mako"))
    assert "changed: http://a/00, http://a/01" in text
    assert "http://a/04 and 25 more" in text
    assert "gone: http://a/x\n" in text + "\n"


def test_pages_that_left_by_exclusion_are_named_with_their_own_number() -> None:
    run = report(excluded=9, newly_excluded=6)
    run.name_pages({f"http://a/{number}": "excluded" for number in range(6)})
    text = "\n".join(run_summary(run.as_contract(), "mako"))
    assert "  9 excluded" in text
    assert "  newly excluded: http://a/0, " in text
    assert "http://a/4 and 1 more" in text


def test_pages_that_a_policy_keeps_are_not_called_excluded() -> None:
    assert "1 kept by policy" in text_of(kept=1)
    assert "excluded" not in text_of(kept=1)


def test_new_pages_of_a_first_crawl_are_not_named() -> None:
    urls = {"new": ["http://a/n"]}
    assert "http://a/n" in text_of(new=1, urls=urls)
    assert "http://a/n" not in text_of(new=1, urls=urls, first_crawl=True)


@pytest.mark.parametrize(
    ("reasons", "words"),
    [
        ({"HTTP 503": 1}, "stale: 1 page (HTTP 503): it answers with its last text"),
        ({"HTTP 503": 2}, "stale: 2 pages (HTTP 503): they answer"),
        ({f"r{n}": 2 for n in range(7)}, "r4: 2, other reasons: 4)"),
    ],
)
def test_stale(reasons: dict[str, int], words: str) -> None:
    assert words in text_of(stale=sum(reasons.values()), stale_reasons=reasons)


def test_many_changing_pages_are_some_and_a_number() -> None:
    pages = [{"url": f"http://a/{n}", "runs": 3, "tokens": [["", "new"]]} for n in range(8)]
    text = text_of(changing=pages)
    assert text.count("changes on every run") == 5
    assert 'nothing -> "new"' in text
    assert "and 3 more pages; name what changes" in text


@pytest.mark.parametrize(
    ("whole", "part", "words"),
    [
        (0, None, "0 bytes"),
        (999, None, "999 bytes"),
        (1_000, None, "1.0 kB"),
        (1_400_000, 1_200_000, "1.2 of 1.4 MB"),
        (2_500_000_000, 1_000_000, "0.0 of 2.5 GB"),
    ],
)
def test_amounts(whole: int, part: int | None, words: str) -> None:
    assert amount(whole, part) == words


def test_some() -> None:
    assert some(["a", "b"], 2) == "a, b"
    assert some(["a", "b"], 5) == "a, b and 3 more"
