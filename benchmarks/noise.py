"""Noise and real edits on real pages; ``python -m benchmarks.noise`` writes its report.

Pages of real documentation get one kind of noise each, are read and compared at each check as a
crawl does it, and published when they count as changed. Then they are edited, beside the noise and
inside of it. All of it is in process, by the clock of the simulation.
"""

from __future__ import annotations

import copy
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from benchmarks.noise_edits import BESIDE, edited
from benchmarks.noise_report import Row, write
from benchmarks.noise_scenarios import BEGIN, MARK, SCENARIOS, Scenario, seed
from freshcrawl.core.changes import compare, content_digest, links_digest
from freshcrawl.core.noise import Check, NoiseRules, judge
from freshcrawl.core.noise_places import find_spots, skeletons
from freshcrawl.core.pages import PageRecord, Verdict
from freshcrawl.core.published import Published
from freshcrawl.core.schedule import SchedulePolicy, reschedule
from freshcrawl.extract import extract
from freshcrawl.noise.memory import NoiseMemory
from freshcrawl.reading import page_title
from freshcrawl.stores.memory import MemoryRecordStore
from tests.support.corpora import corpus

if TYPE_CHECKING:
    from freshcrawl.core.blocks import Block

CORPORA = (("alembic", "1.16.5"), ("lxml", "6.0.2"), ("mako", "1.3.10"), ("sqlalchemy", "2.0.44"))
PAGES = 24
CHECKS = 40
LONGEST = 150_000
"""Characters of a page; longer ones only take longer."""
PATIENCE = 12
"""Scheduled checks after which an edit counts as missed."""
DAY = 86_400.0
RULES = NoiseRules(minimum=DAY / 4, expiry=90 * DAY)


@dataclass(slots=True)
class Body:
    """Main text of a page with `MARK` in it, so that it is read once and not at each check."""

    title: str
    blocks: list[Block]

    @classmethod
    def of(cls, html: str, url: str) -> Body:
        """Read a page."""
        document = extract(html, url)
        return cls(page_title(document), document.blocks)

    def with_noise(self, noise: str, url: str) -> list[Block]:
        """Return the blocks with the markup ``noise``, which is read as a page is, for the mark."""
        at = next(n for n, block in enumerate(self.blocks) if MARK in block.plain)
        paragraph = self.blocks[at].text.replace(MARK, noise)
        found = extract(f"<html><body><main><p>{paragraph}</p></main></body></html>", url).blocks
        return [*self.blocks[:at], *found, *self.blocks[at + 1 :]]


@dataclass(slots=True)
class Page:
    """A real page, and what a crawl knows of it."""

    key: str
    html: str
    """With `MARK` where the noise goes, in the main text."""
    body: Body
    record: PageRecord
    published: Published | None = None
    blocks: list[Block] = field(default_factory=list)
    proven: bool = False
    """Some check of it has been found to be noise."""

    @property
    def url(self) -> str:
        """Where it is."""
        return f"https://{self.key}"


def real_pages() -> list[Page]:
    """Return pages of all corpora, spread over each, with a mark late in their main text."""
    pages: list[Page] = []
    for name, version in CORPORA:
        folder = corpus(name, version)
        files = sorted(folder.rglob("*.html"))
        wanted = PAGES // len(CORPORA)
        random.Random(name).shuffle(files)
        for path in files:
            key = f"{name}.example.org/{path.relative_to(folder)}"
            url, html = f"https://{key}", path.read_text("utf-8", "replace")
            if len(html) < LONGEST and (html := marked(html, url)):
                pages.append(Page(key, html, Body.of(html, url), PageRecord(key, url)))
            if sum(page.key.startswith(name) for page in pages) == wanted:
                break
    return pages


def marked(html: str, url: str) -> str:
    """Return a page with a paragraph `MARK` after the last one that is read; "" if none is."""
    at, paragraph = len(html), f"<p>{MARK}</p>"
    for _ in range(20):
        at = html.rfind("</p>", 0, at)
        if at < 0:
            return ""
        found = html[: at + 4] + paragraph + html[at + 4 :]
        blocks = extract(found, url).blocks
        if len(blocks) >= 8 and any(block.plain == MARK for block in blocks):
            return found
    return ""


def check(
    page: Page, memory: NoiseMemory, noise: str, at: float, policy: SchedulePolicy
) -> Verdict:
    """Compare a fetched body as a crawl does; publish it if it counts as changed."""
    title, blocks = page.body.title, page.body.with_noise(noise, page.url)
    digests = content_digest(title, blocks), links_digest(page.url, "", blocks)
    verdict = compare(page.published, *digests)
    if page.published is not None and verdict != Verdict.UNCHANGED:
        spots = find_spots(page.blocks, blocks) if title == page.published.title else None
        now = Check(at, page.published.changed_at, spots, frozenset(skeletons(blocks)))
        judgement = judge(now, memory.page(page.key), memory.site, RULES)
        memory.learn(page.key, judgement, at, RULES.expiry)
        verdict = Verdict.COSMETIC if judgement.noise else verdict
    elif verdict == Verdict.UNCHANGED:
        memory.settle(page.key)
    if verdict in {Verdict.NEW, Verdict.CHANGED, Verdict.LINKS_ONLY}:
        page.published = Published(
            page.key, page.url, digest=digests[0], links_digest=digests[1], title=title,
            changed_at=at,
        )  # fmt: skip
        page.blocks = blocks
    since = at - page.record.last_checked
    page.record.last_checked = at
    reschedule(page.record, verdict, at, policy, since=since)
    return verdict


def fresh(page: Page) -> Page:
    """Return a page that was never crawled."""
    return Page(page.key, page.html, page.body, PageRecord(page.key, page.url))


def due(page: Page, at: float, scenario: Scenario) -> float:
    """Return when the page is fetched next: as the schedule says, or as often as a person asks."""
    wait = page.record.next_due - at
    return at + min(wait, scenario.every or wait) + 60.0 * seed(page.key, at).randint(0, 6)


def run(scenario: Scenario, pages: list[Page], rng: random.Random) -> Row:
    """Return the figures of one kind of noise."""
    row, memory = Row(scenario.name, len(pages)), NoiseMemory(MemoryRecordStore())
    policy = SchedulePolicy(maximum=scenario.longest)
    clocks = {page.key: BEGIN + 977.0 * number for number, page in enumerate(pages)}
    for number in range(CHECKS):
        for page in sorted(pages, key=lambda page: clocks[page.key]):
            at = clocks[page.key]
            verdict = check(page, memory, scenario.html(page.key, at, rng), at, policy)
            row.checks += 1
            if verdict in {Verdict.CHANGED, Verdict.LINKS_ONLY}:
                name = "after" if page.proven else "before"
                row.false[name] += 1
            page.proven |= verdict == Verdict.COSMETIC
            clocks[page.key] = due(page, at, scenario)
        if number in {CHECKS // 2, CHECKS - 1}:
            for page in pages:
                if page.proven:
                    world = World(page, memory, scenario, clocks[page.key], rng)
                    edit_all(row, world)
    row.proven = sum(page.proven for page in pages)
    return row


@dataclass(frozen=True, slots=True)
class World:
    """All that is known when a page is edited."""

    page: Page
    memory: NoiseMemory
    scenario: Scenario
    at: float
    rng: random.Random


def edit_all(row: Row, world: World) -> None:
    """Make each edit on a copy of all that is known, and count when it is found."""
    page, scenario = world.page, world.scenario
    for kind in BESIDE:
        blocks = edited(page.html, page.body.blocks, kind, world.rng, page.url)
        if blocks is not None:
            found = hunt(world, Body(page.body.title, blocks), None)
            row.edits[f"beside, {kind}"][found] += 1
    for kind, edit in scenario.edits(page.key, world.at, world.rng):
        row.edits[f"inside, {kind}"][hunt(world, page.body, edit)] += 1


def hunt(world: World, body: Body, edit: object) -> str:
    """Return whether an edit was found ``at once``, at the ``second check``, ``later``, or not."""
    scenario, rng, at = world.scenario, world.rng, world.at
    page = replace(world.page, body=body, record=copy.copy(world.page.record))
    memory = copy.deepcopy(world.memory)
    policy, last, scheduled = SchedulePolicy(maximum=scenario.longest), 0.0, 0
    while scheduled < PATIENCE:
        if at - last >= policy.minimum:
            scheduled, last = scheduled + 1, at
        noise = scenario.html(page.key, at, rng) if edit is None else scenario.shown(edit, at)
        if check(page, memory, noise, at, policy) in {Verdict.CHANGED, Verdict.LINKS_ONLY}:
            return ("", "at once", "second check")[scheduled] if scheduled <= 2 else "later"
        at = due(page, at, scenario)
    return "missed"


def main() -> None:
    """Run all scenarios and write the report."""
    began = time.perf_counter()
    pages, rows = real_pages(), []
    for number, scenario in enumerate(SCENARIOS):
        rng = random.Random(number)
        rows.append(run(scenario, [fresh(page) for page in pages], rng))
        print(rows[-1], file=sys.stderr)
    words: Counter[str] = Counter(page.key.split(".")[0] for page in pages)
    write(rows, words, time.perf_counter() - began)


if __name__ == "__main__":
    main()
