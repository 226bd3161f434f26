"""What each edit of a page is seen as: extracted, compared and kept in words, case by case."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from freshcrawl.core.pages import Verdict
from freshcrawl.core.published import Published
from freshcrawl.items import Outcome, PageItem
from freshcrawl.pipelines import ChangePipeline, NormalizePipeline
from tests.support.origin import Origin, page
from tests.support.project import report, scrapy
from tests.support.runs import ROOT, Bench

if TYPE_CHECKING:
    from pathlib import Path

    from freshcrawl.run import Run

PAGE = """<!doctype html>
<html lang="en"><head><title>Install - Mako</title>
<meta name="description" content="How to install.">
<link rel="canonical" href="https://docs.example.com/install">
</head><body><nav><a href="/">Docs</a></nav>
<div class="bodywrapper"><div class="body" role="main">
<section id="install"><h1>Install<a class="headerlink" href="#install">¶</a></h1>
<p>Mako 1.3.10 was released on May 3, 2024. It costs $5. Retries: 3.</p>
<p>Read the <a href="guide">guide</a> first. <img src="logo.png" alt="Mako's logo"></p>
<pre>pip install mako --user</pre>
<dl class="py function"><dt class="sig sig-object py" id="run">run(fast=True)</dt>
<dd><p>Runs it.</p></dd></dl>
<table><thead><tr><th>Key</th><th>Value</th></tr></thead>
<tbody><tr><td>limit</td><td>10</td></tr></tbody></table>
<div class="admonition note"><p class="admonition-title">Note</p><p>Not on Windows.</p></div>
<p>Last updated: see the changes.</p>
<p>[bug] [oracle] Fixed.</p>
<section id="more"><h2>More</h2><p>The end.</p></section>
</section></div></div>
<div class="footer">&copy; Copyright 2024, Mako. Last updated on May 03, 2024.
Created using Sphinx 7.2.6.</div></body></html>"""


def judged(run: Run, body: str) -> PageItem:
    """Return the item of one fetch of the page, read and compared."""
    key = run.sightings.see(f"{ROOT}install")
    assert key is not None
    item = PageItem(key, f"{ROOT}install", Outcome.FETCHED, run.now, content_type="text/html")
    item.body = body

    async def process() -> None:
        await NormalizePipeline(run).process_item(item)
        await ChangePipeline(run).process_item(item)

    asyncio.run(process())
    return item


def after_edit(monkeypatch: pytest.MonkeyPatch, old: str, new: str) -> PageItem:
    """Publish the page, edit it, and return the item of the next fetch."""
    assert PAGE.count(old) == 1, f"{old!r} is in the page {PAGE.count(old)} times"
    run = Bench().run()
    first = judged(run, PAGE)
    assert first.verdict == Verdict.NEW
    assert first.document is not None
    run.ledger.published[first.key] = Published(
        first.key, first.url, digest=first.digest, links_digest=first.links_digest,
        title=first.title, simhash=first.simhash,
    )  # fmt: skip
    blocks = first.document.blocks
    monkeypatch.setattr(run.ledger, "published_blocks", lambda key: blocks)
    return judged(run, PAGE.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "kinds", "tokens"),
    [
        # versions, dates, prices and numbers in prose are content
        ("Mako 1.3.10", "Mako 1.3.11", ["paragraph"], ["1.3.10", "1.3.11"]),
        ("May 3, 2024", "May 4, 2024", ["paragraph"], ["3,", "4,"]),
        ("$5", "$6", ["paragraph"], ["$5.", "$6."]),
        ("Retries: 3", "Retries: 4", ["paragraph"], ["3.", "4."]),
        ("Last updated: see the changes", "Last updated: see the log", ["paragraph"],
         ["changes.", "log."]),
        # structure
        ("pip install mako --user", "pip install mako --root", ["code"], ["--user", "--root"]),
        ("pip install mako --user", "pip  install mako --user", ["code"], []),
        ("fast=True", "fast=False", ["signature"], ["`run(fast=True)`", "`run(fast=False)`"]),
        ("<td>10</td>", "<td>11</td>", ["table"], ["10", "11"]),
        ("Not on Windows", "Now on Windows", ["admonition"], ["Not", "Now"]),
        (">More<", ">Others<", ["heading"], ["More", "Others"]),
        ("<h2>More</h2>", "<h3>More</h3>", ["heading"], ["##", "###"]),
        ("<h1>Install<", "<h1>Set-up<", ["heading", "title"], ["Install", "Set-up"]),
        ("""alt="Mako's logo\"""", 'alt="A snake"', ["paragraph"], ["Mako's logo", "A snake"]),
        ("<p>The end.</p>", "", ["paragraph"], ["The end.", ""]),
        # the same words in another order: nothing in the page says that it means nothing
        ("[bug] [oracle]", "[oracle] [bug]", ["paragraph"], []),
    ],
)  # fmt: skip
def test_changed(
    monkeypatch: pytest.MonkeyPatch, old: str, new: str, kinds: list[str], tokens: list[str]
) -> None:
    item = after_edit(monkeypatch, old, new)
    assert item.verdict == Verdict.CHANGED
    assert item.difference is not None
    assert item.difference.kinds == kinds
    assert item.difference.reason.startswith("differs in ")
    assert item.difference.reason.endswith(f" ({', '.join(kinds)})")
    assert not tokens or item.difference.tokens == [tokens]


def test_only_the_order_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    note = PAGE[PAGE.index('<div class="admonition') : PAGE.index("<p>Last updated")]
    item = after_edit(monkeypatch, f"{note}<p>Last updated: see the changes.</p>",
                      f"<p>Last updated: see the changes.</p>{note}")  # fmt: skip
    assert item.verdict == Verdict.CHANGED
    assert item.difference is not None
    assert item.difference.reason == "only the order of blocks differs"


@pytest.mark.parametrize(
    ("old", "new", "tokens"),
    [
        ('href="guide"', 'href="manual"',
         [[f"[guide]({ROOT}guide)", f"[guide]({ROOT}manual)"]]),
        ('src="logo.png"', 'src="logo.svg"',
         [[f"logo]({ROOT}logo.png)", f"logo]({ROOT}logo.svg)"]]),
        ('<section id="more">', '<section id="rest">', []),  # an anchor
        ('id="run"', 'id="mako.run"', []),
    ],
)  # fmt: skip
def test_links_only(
    monkeypatch: pytest.MonkeyPatch, old: str, new: str, tokens: list[list[str]]
) -> None:
    item = after_edit(monkeypatch, old, new)
    assert item.verdict == Verdict.LINKS_ONLY
    assert item.difference is not None
    assert item.difference.reason == "only link targets or anchors differ"
    assert item.difference.tokens == tokens


def test_another_canonical_page_is_links_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it makes the page an alias is decided at the end of the run."""
    item = after_edit(monkeypatch, "docs.example.com/install", "docs.example.com/start")
    assert (item.verdict, item.canonical) == (Verdict.LINKS_ONLY, "docs.example.com/start")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Copyright 2024", "Copyright 2025"),
        ("Last updated on May 03, 2024", "Last updated on June 01, 2025"),
        ("Sphinx 7.2.6", "Sphinx 8.0.0"),
        ('<a href="/">Docs</a>', '<a href="/new">News</a>'),
        # not shown, so not part of what is compared
        ("How to install.", "How to set up."),
        ('lang="en"', 'lang="de"'),
        ("<title>Install - Mako</title>", "<title>Set-up - Mako 2</title>"),  # the H1 is the title
        ("<p>The end.</p>", "<p>The\n  <span>end</span>.</p>"),
    ],
)
def test_unchanged(monkeypatch: pytest.MonkeyPatch, old: str, new: str) -> None:
    item = after_edit(monkeypatch, old, new)
    assert (item.verdict, item.difference) == (Verdict.UNCHANGED, None)


def test_the_title_of_a_page_without_h1_is_content(monkeypatch: pytest.MonkeyPatch) -> None:
    without = PAGE.replace("<h1>Install<", "<h2>Install<").replace("</a></h1>", "</a></h2>")
    monkeypatch.setattr("tests.test_verdicts.PAGE", without)
    item = after_edit(monkeypatch, "<title>Install - Mako</title>", "<title>Set-up</title>")
    assert item.verdict == Verdict.CHANGED
    assert item.difference is not None
    assert item.difference.kinds == ["title"]


def test_all_verdicts_in_a_crawl_and_what_explain_says_of_them(tmp_path: Path) -> None:
    sites, state = tmp_path / "sites.toml", tmp_path / "state"
    versions = {
        "/same": ("Text.", "Text."),
        "/seen": ("Seen 7 times.", "Seen 8 times."),
        "/link": ("See <a href='/a'>it</a>.", "See <a href='/b'>it</a>."),
        "/text": ("It costs $5.", "It costs $6."),
    }

    def crawl(number: int) -> None:
        for path, texts in versions.items():
            origin[path] = page(path, texts[number])
        done = scrapy(
            "crawl", "docs", "-a", "site=docs", "-a", "full=1",
            state=state, settings={"FRESHCRAWL_SITES": sites}, clock_offset_s=number * 86_400,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]

    with Origin() as origin:
        origin.serve_sitemap(*versions)
        patterns = "volatile_patterns = ['\\d+ times']"
        sites.write_text(f'[sites.docs]\nurl = "{origin.url}"\n{patterns}\n')
        crawl(0)
        crawl(1)
        expected = {
            "/same": ("unchanged", None),
            "/seen": ("cosmetic", "only what volatile_patterns match differs"),
            "/link": ("links_only", "only link targets or anchors differ"),
            "/text": ("changed", "differs in 1 block of 2 (paragraph)"),
        }
        for path, (verdict, reason) in expected.items():
            shown = scrapy("explain", origin.url + path[1:], "--json", state=state).stdout
            [known] = json.loads(shown)
            assert known["last_verdict"] == verdict
            assert (known["difference"] or {"reason": None})["reason"] == reason
        words = scrapy("explain", f"{origin.url}text", state=state).stdout
    assert 'differs in 1 block of 2 (paragraph): "$5." -> "$6."' in words
    run = report(state)
    counts = {verdict: run[verdict] for verdict, _ in expected.values()}
    assert counts == dict.fromkeys(counts, 1)
