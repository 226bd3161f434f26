"""Proven noise in the pipelines: with volatile text, other recipes, validators and staged work."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from freshcrawl.config import Config
from freshcrawl.core.pages import PageRecord, Status, Verdict
from freshcrawl.core.published import Published, Staged
from freshcrawl.items import Outcome, PageItem
from freshcrawl.outcomes import conclude
from freshcrawl.pipelines import ChangePipeline, NormalizePipeline, PresencePipeline
from freshcrawl.run import Run
from freshcrawl.sites import SiteConfig
from freshcrawl.staging import content_of, pack, pack_blocks
from freshcrawl.state import SiteState, open_in_memory
from tests.support.origin import page

DAY = 86_400.0
ROOT = "https://docs.example.com/"


@dataclass
class Crawls:
    """Bodies of a page, each judged in a run of its own, and published when they are content."""

    patterns: tuple[str, ...] = ()
    state: SiteState = field(default_factory=lambda: open_in_memory("x"))
    now: float = 1_790_000_000.0
    run: Run = field(init=False)

    def __post_init__(self) -> None:
        """Begin the first run."""
        self._begin()

    def _begin(self) -> None:
        published = self.run.ledger.published if hasattr(self, "run") else {}
        site = SiteConfig(name="x", url=ROOT, volatile_patterns=self.patterns)
        self.run = Run(site, Config(), self.state, lambda: self.now)
        self.run.ledger.published = published

    def fetch(
        self, text: str, *, name: str = "a", etag: str = "", reject: str = "", head: str = ""
    ) -> PageItem:
        """Judge a page of this text, two days later than the one before."""
        key = f"docs.example.com/{name}"
        if key not in self.run.ledger.pages:
            self.run.ledger.add(PageRecord(key, ROOT + name))
        item = PageItem(key, ROOT + name, Outcome.FETCHED, self.now, etag=etag)
        item.body = page(name, text, "Nothing else moves.", head=head)
        asyncio.run(self._judge(item, reject))
        if item.verdict in {Verdict.NEW, Verdict.CHANGED, Verdict.LINKS_ONLY}:
            self._publish(item)
        self.run.commit()
        self.now += 2 * DAY
        self._begin()
        return item

    async def _judge(self, item: PageItem, reject: str) -> None:
        await NormalizePipeline(self.run).process_item(item)
        await ChangePipeline(self.run).process_item(item)
        if reject:
            item.reject(reject)
        PresencePipeline(self.run).process_item(item)
        assert item.finding is not None
        conclude(self.run, item, item.finding, None)

    def _publish(self, item: PageItem) -> None:
        assert item.document is not None
        entry = Staged(
            item.key, item.url, Status.LIVE, item.verdict, self.now,
            blocks=pack_blocks(item.document.blocks), body=pack(item.body),
        )  # fmt: skip
        self.state.corpus.put_content({item.digest: content_of(entry)})
        published = Published(
            item.key, item.url, digest=item.digest, links_digest=item.links_digest,
            title=item.title, changed_at=item.fetched_at, content=item.digest,
        )  # fmt: skip
        self.run.ledger.adopt({item.key: published}, 1)
        self.run.ledger.set(item.key, made_by=self.run.made_by)

    def tell(self, *texts: str, name: str = "a") -> list[str]:
        """Return the verdicts on bodies of these texts."""
        return [str(self.fetch(text, name=name).verdict) for text in texts]

    @property
    def record(self) -> PageRecord:
        """The record of page ``a``."""
        return self.run.ledger.pages["docs.example.com/a"]


PROOF = ("Seen by 5 people.", "Seen by 6 people.", "Seen by 7 people.")


def test_together_with_volatile_patterns() -> None:
    crawls = Crawls((r"\[.*?\]",))
    told = crawls.tell(
        "Seen [a] by 5 people.", "Seen [b] by 5 people.", "Seen [c] by 6 people.",
        "Seen [d] by 7 people.", "Seen [e] by 8 people.",
    )  # fmt: skip
    assert told == ["new", "cosmetic", "changed", "cosmetic", "cosmetic"]
    assert crawls.record.difference["reason"] == "differs only in proven noise (counter)"
    assert crawls.tell("Seen [f] by 6 people.") == ["cosmetic"]
    assert crawls.record.difference["reason"] == "only what volatile_patterns match differs"
    assert crawls.tell("Shown [g] to 9 people.") == ["changed"]


def test_bodies_that_were_read_in_another_way_prove_nothing() -> None:
    crawls = Crawls()
    assert crawls.tell(*PROOF[:2]) == ["new", "changed"]
    crawls.record.recipe = "older"
    assert crawls.tell(PROOF[2]) == ["changed"]
    assert crawls.record.recipe == crawls.run.recipe
    assert crawls.tell("Seen by 8 people.", "Seen by 9 people.") == ["cosmetic", "cosmetic"]


def test_what_an_older_release_published_is_compared_as_it_would_be_read_today() -> None:
    crawls = Crawls()
    crawls.tell(*PROOF)

    def fetch(text: str) -> PageItem:
        crawls.record.made_by = "older"
        page = crawls.run.ledger.published["docs.example.com/a"]
        page.digest, page.title = "of another reading", "of another reading"
        return crawls.fetch(text)

    assert fetch(PROOF[1]).verdict == Verdict.UNCHANGED
    item = fetch("Seen by 8 people.")
    # Its text is made anew all the same.
    assert (item.verdict, item.published_stays) == (Verdict.COSMETIC, False)
    item = fetch('Seen <a href="/by">by</a> 6 people.')
    assert item.difference is not None
    assert (item.verdict, item.difference.kinds) == (Verdict.LINKS_ONLY, ["paragraph"])
    assert fetch("Seen by nobody.").verdict == Verdict.CHANGED


def test_validators_stay_those_of_what_is_published() -> None:
    crawls = Crawls()
    for number, text in enumerate(PROOF):
        crawls.fetch(text, etag=f'"{number}"')
    assert crawls.record.last_verdict == "cosmetic"
    sent = crawls.run.validators("docs.example.com/a", ROOT + "a")
    assert sent == {"If-None-Match": '"1"'}
    # Those of a body that would be read in another way today are worth nothing.
    crawls.record.recipe = "older"
    crawls.fetch("Seen by 8 people.", etag='"3"')
    assert crawls.run.validators("docs.example.com/a", ROOT + "a") == {}
    assert crawls.record.recipe == crawls.run.recipe


def test_what_is_outside_of_the_text_is_no_noise() -> None:
    crawls = Crawls()
    crawls.tell(*PROOF)
    canonical = f'<link rel="canonical" href="{ROOT}b">'
    assert crawls.fetch("Seen by 8 people.", head=canonical).verdict == Verdict.CHANGED
    assert crawls.fetch("Seen by 9 people.", head=canonical).verdict == Verdict.COSMETIC


def test_older_work_that_waits_is_void() -> None:
    crawls = Crawls()
    crawls.tell(*PROOF)
    waiting = Staged("docs.example.com/a", ROOT + "a", Status.LIVE, "changed", 0.0, held="changes")
    crawls.run.stage(waiting)
    assert crawls.tell("Seen by 8 people.") == ["cosmetic"]
    assert crawls.run.ledger.staged == {}


def test_bodies_that_are_not_the_page_tell_nothing() -> None:
    crawls = Crawls()
    assert crawls.tell(*PROOF[:2]) == ["new", "changed"]
    crawls.fetch("Seen by 7 people.", reject="a wall")
    assert crawls.tell("Seen by 8 people.") == ["cosmetic"]
    [place] = crawls.run.ledger.noise.page("docs.example.com/a").values()
    assert place.observed == 2
    assert len(place.values) == 3


def test_what_shows_the_published_value_again_has_not_stood_still() -> None:
    crawls = Crawls()
    crawls.tell(*PROOF)
    told = crawls.tell("Seen by 8 people.", PROOF[1], "Seen by 8 people.", "Seen by 8 people.")
    assert told == ["cosmetic", "unchanged", "cosmetic", "changed"]


def test_what_shows_the_published_value_beside_other_volatile_text_has_not_stood_still() -> None:
    crawls = Crawls((r"\[.*?\]",))
    crawls.tell(*(f"{text} [a]" for text in PROOF))
    told = crawls.tell("Seen by 8 people. [a]", f"{PROOF[1]} [b]", "Seen by 8 people. [a]")
    assert told == ["cosmetic", "cosmetic", "cosmetic"]


def test_what_three_pages_prove_is_kept_for_the_site() -> None:
    crawls = Crawls()
    for name in ("a", "b", "c"):
        assert crawls.tell(*PROOF, name=name) == ["new", "changed", "cosmetic"]
    assert crawls.state.records.get("meta:noise")
    assert crawls.tell(*PROOF, name="d") == ["new", "cosmetic", "cosmetic"]
    # A page that leaves takes its own places with it.
    gone = Published("docs.example.com/a", ROOT + "a", Status.GONE)
    crawls.run.ledger.adopt({gone.key: gone}, 2)
    assert crawls.state.records.get("noise:docs.example.com/a") is None
    assert crawls.state.records.get("noise:docs.example.com/b")
