"""Titles, robots values, and what an outcome leaves in the page's record."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshcrawl import tally
from freshcrawl.config import Config
from freshcrawl.core.blocks import Block, Document
from freshcrawl.core.evidence import Finding
from freshcrawl.core.pages import Status, Verdict
from freshcrawl.core.published import Published, Staged
from freshcrawl.core.robots_meta import product_token, says_noindex
from freshcrawl.core.schedule import DAY
from freshcrawl.items import Outcome, PageItem
from freshcrawl.ledger import NO_VALIDATORS
from freshcrawl.outcomes import conclude
from freshcrawl.pipelines import (
    BoilerplatePipeline,
    ChangePipeline,
    IndexPipeline,
    NormalizePipeline,
    PresencePipeline,
)
from freshcrawl.reading import page_title
from freshcrawl.run import Run
from freshcrawl.sites import SiteConfig
from freshcrawl.state import open_in_memory

NOW = 1_800_000_000.0
URL = "https://docs.example.com/a"


def heading(title: str, level: int = 1) -> Block:
    return Block("heading", "#" * level + " " + title, level=level, title=title)


@pytest.mark.parametrize(
    ("title", "blocks", "expected"),
    [
        ("Head", [heading("Main")], "Main"),
        ("Head", [Block("paragraph", "Intro"), heading("Main"), heading("Second")], "Main"),
        ("Head — Site", [heading("Part", level=2)], "Head"),
        ("Head", [heading("")], "Head"),
        ("Head", [heading(""), heading("Main")], "Main"),
        ("Head", [Block("signature", "f()", level=1, title="f")], "Head"),
        ("", [], ""),
    ],
)
def test_the_first_h1_is_the_title(title: str, blocks: list[Block], expected: str) -> None:
    assert page_title(Document(title=title, blocks=blocks)) == expected


def test_a_page_that_cannot_be_parted_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def part(*_: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr("freshcrawl.pipelines.boilerplate.part", part)
    run = Run(SiteConfig(name="x", url=URL), Config(), open_in_memory("x"), lambda: NOW)
    item = PageItem("docs.example.com/a", URL, Outcome.FETCHED, NOW, document=Document())
    asyncio.run(BoilerplatePipeline(run).process_item(item))
    assert (item.verdict, item.document) == (Verdict.FAILED, None)
    assert "too deep" in item.reason


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Install — Mako 1.3 documentation", "Install"),
        ("Install – Mako", "Install"),
        ("Install | Mako", "Install"),
        ("Install · Mako", "Install"),
        ("Install — Guide — Mako", "Install"),
        ("Install\n  —\n  Mako", "Install"),
        ("  Install  ", "Install"),
        ("Install - Mako", "Install - Mako"),
        ("a|b", "a|b"),
        ("Range 1–5", "Range 1–5"),
        ("A | ", "A"),
        ("Mako", "Mako"),
    ],
)
def test_the_name_of_the_site_is_no_part_of_a_title(title: str, expected: str) -> None:
    assert page_title(Document(title=title)) == expected


@pytest.mark.parametrize(
    "robots",
    [
        *("noindex", "NOINDEX", "none", "NONE", " noindex ", "noindex,nofollow"),
        *("nofollow, noindex", "noarchive,none", "follow , NoIndex", "\nnoindex", "all\nnoindex"),
        # rules with values name no agent
        "max-snippet:-1, noindex",
        "max-image-preview:large, max-video-preview: -1, noindex, follow",
        "unavailable_after: 25 Jun 2030 15:00:00 PST, noindex",
        "unavailable_after: Wed, 25 Jun 2030 15:00:00 GMT, noindex",
        "unavailable_after: 2030-06-25T15:00:00+00:00, none",
        # agents
        "freshcrawl: noindex",
        "FreshCrawl : noindex, nofollow",
        "freshcrawl: nofollow, noindex",
        "*: noindex",
        "otherbot: nofollow, freshcrawl: noindex",
        "otherbot: all, freshcrawl: nofollow, none",
        "noindex, otherbot: index",
        "freshcrawl: max-snippet: 20, noindex",
        # an agent counts for its own header
        "otherbot: nofollow\nnoindex",
        "otherbot: noindex\nfreshcrawl: noindex",
        "otherbot: unavailable_after: 25 Jun 2030 15:00:00 PST\nnoindex",
    ],
)
def test_noindex(robots: str) -> None:
    assert says_noindex(robots)


@pytest.mark.parametrize(
    "robots",
    [
        *("", "\n", ",", "all", "index, follow", "nofollow", "noarchive", "noindexing", "nonesuch"),
        *("no index", "index:noindexed", "noimageindex", "indexifembedded"),
        "max-image-preview:none",
        "max-image-preview: none, follow",
        "max-snippet: 0",
        "unavailable_after: 25 Jun 2030 15:00:00 PST",
        "otherbot: noindex",
        "otherbot: noindex, nofollow",
        "otherbot: nofollow, noindex",
        "freshcrawl: nofollow, otherbot: noindex",
        "otherbot: noindex\nfreshcrawl: nofollow",
        "otherbot: max-snippet:-1, noindex",
        "all\notherbot: none",
        "freshcrawl-news: noindex",
        "my freshcrawl: noindex",
    ],
)
def test_no_noindex(robots: str) -> None:
    assert not says_noindex(robots)


@pytest.mark.parametrize(
    ("robots", "expected"),
    [
        ("unavailable_after: 25 Jun 2010 15:00:00 PST", True),
        ("unavailable_after: Sunday, 25-Jun-10 15:00:00 GMT, nofollow", True),
        ("unavailable_after: Wed, 25 Jun 2010 15:00:00 GMT", True),
        ("unavailable_after: 2010-06-25", True),
        ("unavailable_after:2010-06-25T15:00:00+02:00", True),
        ("nofollow, unavailable_after: 2010-06-25", True),
        ("freshcrawl: unavailable_after: 2010-06-25", True),
        ("otherbot: unavailable_after: 2010-06-25", False),
        ("unavailable_after: 2999-06-25", False),
        ("unavailable_after: 25 Jun 2999 15:00:00 GMT", False),
        ("unavailable_after: soon", False),
        ("unavailable_after: 31-31-31", False),
        ("unavailable_after", False),
        ("unavailable_after:", False),
    ],
)
def test_a_date_after_which_a_page_is_no_more(robots: str, expected: bool) -> None:
    assert says_noindex(robots, now=NOW) is expected


@pytest.mark.parametrize(
    ("robots", "agent", "expected"),
    [
        ("acme-bot: noindex", "acme-bot", True),
        ("Acme-Bot: NoIndex", "acme-bot", True),
        ("freshcrawl: noindex", "acme-bot", False),
        ("acme: noindex", "acme-bot", False),
        ("noindex", "acme-bot", True),
    ],
)
def test_noindex_for_our_product_token(robots: str, agent: str, expected: bool) -> None:
    assert says_noindex(robots, agent) is expected


@pytest.mark.parametrize(
    ("user_agent", "token"),
    [
        ("freshcrawl", "freshcrawl"),
        ("Acme-Bot/1.0 (docs)", "acme-bot"),
        ("Mozilla/5.0 (compatible)", "mozilla"),
        ("", "freshcrawl"),
        ("/odd", "freshcrawl"),
    ],
)
def test_the_product_token_of_a_user_agent(user_agent: str, token: str) -> None:
    assert product_token(user_agent) == token


@given(st.text())
def test_any_robots_value_can_be_read(robots: str) -> None:
    if says_noindex(robots):
        assert "noindex" in robots.lower() or "none" in robots.lower()


VALUE = st.sampled_from(["all", "nofollow", "max-snippet:-1", "max-image-preview:none", "noindex"])


@given(st.lists(VALUE, max_size=5), st.lists(VALUE, max_size=5))
def test_order_of_values_and_headers_does_not_count(one: list[str], other: list[str]) -> None:
    expected = "noindex" in one + other
    assert says_noindex(f"{', '.join(one)}\n{', '.join(other)}") is expected
    assert says_noindex(f"{','.join(reversed(other))}\n{','.join(one)}") is expected


@pytest.fixture
def run() -> Run:
    site = SiteConfig(name="x", url="https://docs.example.com/")
    return Run(site, Config(), open_in_memory("x"), lambda: NOW)


def fetched(run: Run, url: str = URL, **fields: Any) -> PageItem:
    key = run.sightings.see(url)
    assert key is not None
    run.sightings.listing_read("start", "start", [key])
    text = Document(blocks=[Block("paragraph", "text")])
    values = {
        "document": text,
        "digest": "d1",
        "links_digest": "l1",
        "verdict": Verdict.NEW,
        **fields,
    }
    return PageItem(key=key, url=url, outcome=Outcome.FETCHED, fetched_at=NOW, **values)


def validators_after(run: Run, item: PageItem, status: Status = Status.LIVE) -> dict[str, str]:
    conclude(run, item, Finding(status), None)
    record = run.ledger.pages[item.key]
    return {name: getattr(record, name) for name in (*NO_VALIDATORS, "recipe")}


@pytest.mark.parametrize(
    ("etag", "last_modified"),
    [
        ('"v1"', ""),
        ("", "Wed, 02 Oct 2002 13:00:00 GMT"),
        ('W/"v1-gzip"', "Wed, 02 Oct 2002 13:00:00 GMT"),
    ],
)
def test_validators_are_bound_to_url_content_and_recipe(
    run: Run, etag: str, last_modified: str
) -> None:
    assert validators_after(run, fetched(run, etag=etag, last_modified=last_modified)) == {
        "etag": etag,
        "last_modified": last_modified,
        "validator_url": URL,
        "validator_digest": "d1l1",
        "recipe": run.recipe,
    }


@pytest.mark.parametrize(
    "later", [{}, {"etag": '"v2"', "rendered": True}, {"last_modified": "yesterday"}]
)
def test_a_later_body_leaves_no_validator_of_an_earlier_one(
    run: Run, later: dict[str, Any]
) -> None:
    validators_after(run, fetched(run, etag='"v1"'))
    after = validators_after(run, fetched(run, **later, digest="d2"))
    assert after["etag"] == ""
    assert after["validator_digest"] == ("d2l1" if "last_modified" in later else "")


@pytest.mark.parametrize(
    "bad",
    [
        {"document": None, "verdict": Verdict.REJECTED, "digest": ""},
        {"document": None, "verdict": "", "digest": "", "http_status": 503},
    ],
)
def test_a_rejected_or_failed_answer_gives_no_validators(run: Run, bad: dict[str, Any]) -> None:
    before = validators_after(run, fetched(run, etag='"v1"'))
    assert validators_after(run, fetched(run, etag='"v2"', **bad)) == before


def test_a_page_that_robots_txt_disallows_was_not_checked(run: Run) -> None:
    item = fetched(run)
    run.ledger.set(item.key, last_checked=NOW - 1_000, status=Status.LIVE)
    item.outcome, item.document, item.verdict = Outcome.DISALLOWED, None, ""
    conclude(run, item, Finding(Status.LIVE, "robots.txt", Verdict.EXCLUDED), None)
    record = run.ledger.pages[item.key]
    assert (record.last_checked, record.last_attempt) == (NOW - 1_000, NOW)
    assert record.next_due > NOW


def with_live_b(run: Run) -> str:
    key = "docs.example.com/b"
    run.ledger.published[key] = Published(key, f"https://{key}", digest="d")
    return key


def test_a_page_becomes_the_alias_of_its_canonical_page(run: Run) -> None:
    canonical, item = with_live_b(run), fetched(run)
    run.ledger.set(item.key, canonical=canonical)
    run.stage(Staged(item.key, URL, Status.LIVE, Verdict.NEW, NOW, canonical=canonical))
    tally.resolve_canonicals(run)
    record = run.ledger.pages[item.key]
    assert (record.status, record.alias_of) == (Status.ALIAS, canonical)
    assert run.ledger.staged == {}


def test_an_alias_by_canonical_link_is_not_new_at_every_check(run: Run) -> None:
    canonical = with_live_b(run)
    item = fetched(run, canonical=canonical, canonical_url=f"https://{canonical}")
    run.ledger.set(item.key, status=Status.ALIAS, alias_of=canonical, interval=DAY)
    PresencePipeline(run).process_item(item)
    assert item.finding is not None
    conclude(run, item, item.finding, None)
    record = run.ledger.pages[item.key]
    assert (record.status, record.alias_of) == (Status.ALIAS, canonical)
    assert record.interval == 2 * DAY
    assert run.ledger.staged == {}
    assert (run.report.new, run.report.moved) == (0, 0)


@pytest.mark.parametrize("part", ["normalize.extract", "change.simhash", "index.staged_content"])
def test_page_that_always_breaks_a_pipeline_is_kept_counted_and_tried_later(
    run: Run, part: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise RuntimeError("odd page")

    monkeypatch.setattr(f"freshcrawl.pipelines.{part}", broken)
    item = fetched(run, document=None, digest="", verdict="", body="<main><p>text of it</main>")

    async def process() -> None:
        await NormalizePipeline(run).process_item(item)
        PresencePipeline(run).process_item(await ChangePipeline(run).process_item(item))
        await IndexPipeline(run).process_item(item)

    asyncio.run(process())
    record = run.ledger.pages[item.key]
    assert "odd page" in record.reason
    assert (record.failures, run.report.failed, run.report.new) == (1, 1, 0)
    assert NOW < record.next_due <= NOW + 86_400
    assert not run.ledger.staged
    assert "odd page" in caplog.text
