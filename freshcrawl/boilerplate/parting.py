"""A page's text and the site's boilerplate are parted anew, from what is kept of the page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from freshcrawl.core import volatile
from freshcrawl.core.boilerplate import BODY, find, says_something, without
from freshcrawl.core.changes import digests, links_digest
from freshcrawl.core.pages import Status, Verdict
from freshcrawl.core.published import Published, Staged
from freshcrawl.core.simhash import simhash
from freshcrawl.core.trust import gist_digest
from freshcrawl.staging import Content, cut, pack, pack_blocks, unpack_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from freshcrawl.core.blocks import Block
    from freshcrawl.stores.base import Embedder


@dataclass(frozen=True, slots=True)
class Parted:
    """The blocks of a page, parted, with the digests that ChangePipeline would give it."""

    blocks: list[Block]
    left_out: list[int]
    digest: str
    links_digest: str
    shown_links: str
    """``links_digest`` without what is left out."""

    @property
    def version(self) -> str:
        """What `Published.version` will be."""
        return self.digest + self.links_digest


@dataclass(slots=True)
class Parter:
    """Parts pages of one site with one list of boilerplate. Any thread may call it."""

    fingerprints: frozenset[str]
    patterns: Sequence[str]
    """The site's ``volatile_patterns``."""
    cutter: Callable[[], Embedder | None]
    noise: Callable[[Staged, Sequence[Block], Sequence[Block]], bool]
    """Tells whether blocks of staged text differ from published ones in proven noise only."""

    def again(self, entry: Staged, page: Published | None, content: Content | None) -> Staged:
        """Return staged work, whole, as if its page had been read with this list.

        ``page`` and ``content`` are what is published of it, if it is live. A change
        that is none in the light of this list becomes cosmetic, or a change of links only.
        """
        parted = self._of_staged(entry)
        entry = self._filled(entry, parted)
        if page is None or content is None:
            return entry
        verdict = self._verdict(entry, parted, page, content)
        if verdict == entry.verdict:
            return entry
        return replace(entry, verdict=verdict, changed_at=page.changed_at)

    def verdict(self, entry: Staged, page: Published, content: Content) -> str:
        """Return what ``again`` finds, without making it."""
        return self._verdict(entry, self._of_staged(entry), page, content)

    def remake(
        self, page: Published, content: Content | None, now: float
    ) -> tuple[Staged | None, bool]:
        """Return the work that shows less of a published page, and whether more is to be shown.

        No work if nothing more is left out. What is to be shown again may have other
        digits by now, so that comes with the page's next body.
        """
        if content is None:
            return None, True
        if content.generator != BODY:
            return None, False
        blocks = content.all_blocks()
        full = find(blocks, self.fingerprints)
        owes = bool(set(content.left_out) - set(full))
        places = sorted({*full, *content.left_out})
        if not any(map(says_something, without(blocks, places))):
            places = full
        if places == content.left_out:
            return None, owes
        entry = Staged(
            page.key,
            page.url,
            Status.LIVE,
            Verdict.COSMETIC,
            now,
            changed_at=page.changed_at,
            title=page.title,
            canonical=content.canonical,
            generator=content.generator,
            made_by=content.made_by,
            blocks=pack_blocks(blocks),
            body=pack(content.body),
        )
        place = (page.title, page.url, content.canonical)
        return self._filled(entry, self._part(place, blocks, places)), owes

    def _of_staged(self, entry: Staged) -> Parted:
        blocks = unpack_blocks(entry.blocks)
        place = (entry.title, entry.url, entry.canonical)
        return self._part(place, blocks, find(blocks, self.fingerprints))

    def _of_published(self, page: Published, content: Content) -> list[Parted]:
        """Return a published page as it is, and as it would be with this list."""
        blocks = content.all_blocks()
        parts = [content.left_out]
        if content.generator == BODY:
            parts.append(find(blocks, self.fingerprints))
        place = (page.title, page.url, content.canonical)
        return [self._part(place, blocks, places) for places in parts]

    def _part(
        self, place: tuple[str, str, str], blocks: Sequence[Block], places: Collection[int]
    ) -> Parted:
        """Return blocks parted; ``place`` is title, URL and canonical key of the page."""
        _, url, canonical = place
        shown = without(blocks, places)
        compared = volatile.for_comparison(shown, self.patterns)
        digest, links = digests(place, compared, (blocks[at] for at in places))
        return Parted(
            blocks=shown,
            left_out=sorted(places),
            digest=digest,
            links_digest=links,
            shown_links=links_digest(url, canonical, compared),
        )

    def _verdict(self, entry: Staged, new: Parted, page: Published, content: Content) -> str:
        old = self._of_published(page, content)
        same = [parted for parted in old if parted.digest == new.digest]
        # What is unchanged is staged only to be read or cut anew.
        if entry.verdict in {Verdict.NEW, Verdict.UNCHANGED}:
            return entry.verdict
        if not same:
            known = (page.title, page.url, content.canonical)
            alike = known == (entry.title, entry.url, entry.canonical)
            alike = alike and entry.verdict == Verdict.CHANGED
            if alike and any(self.noise(entry, parted.blocks, new.blocks) for parted in old):
                return Verdict.COSMETIC
            return entry.verdict
        as_shown = any(parted.shown_links == new.shown_links for parted in same)
        return Verdict.COSMETIC if as_shown else Verdict.LINKS_ONLY

    def _filled(self, entry: Staged, parted: Parted) -> Staged:
        """Return staged work with what depends on how its page is parted."""
        changes: dict[str, Any] = {"digest": parted.digest, "links_digest": parted.links_digest}
        if parted.left_out != entry.left_out or not entry.chunks:
            text = "\n\n".join(block.plain for block in parted.blocks)
            changes |= {
                "left_out": parted.left_out,
                "simhash": simhash(text),
                "gist": gist_digest(entry.title, text, entry.url),
                **cut(entry.key, entry.title, parted.blocks, self.cutter()),
            }
        return replace(entry, **changes)
