"""A published page as today's release, table and model make it, from what is kept of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from freshcrawl.core.chunks import chunk_page
from freshcrawl.core.pages import Status, Verdict
from freshcrawl.core.published import Edit, Staged
from freshcrawl.core.robots_meta import says_noindex
from freshcrawl.core.words import count
from freshcrawl.reading import cut_as, made_by, read_alike
from freshcrawl.staging import content_of, pack, pack_blocks, staged_content, to_edit
from freshcrawl.stores.base import StoreError
from freshcrawl.summary import some
from freshcrawl.upgrades import reread

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from freshcrawl.core.blocks import Document
    from freshcrawl.core.published import Published
    from freshcrawl.sites import SiteConfig
    from freshcrawl.staging import Content
    from freshcrawl.stores.base import Embedder, Snapshot


@dataclass(frozen=True, slots=True)
class Remade:
    """A live page as it is to be published."""

    edit: Edit
    """Its chunks have their ``embed_text``."""
    record: dict[str, Any]
    """What its record has to say of how it is made."""
    content: bytes | None = None
    """What is to be kept of it, None for what is kept."""
    read_again: bool = False


def without_embed_text(edit: Edit) -> Edit:
    """Return an edit as it is stored: what the model sees of its chunks is not."""
    return Edit(edit.page, [replace(chunk, embed_text="") for chunk in edit.chunks])


def differs(edit: Edit, stands: Published, snapshot: Snapshot) -> bool:
    """Tell whether a page would be published otherwise than it stands; no ``embed_text`` counts."""
    if replace(edit.page, from_gen=stands.from_gen) != stands:
        return True
    return without_embed_text(edit).chunks != list(snapshot.chunks(edit.page.key))


def not_kept(site: str, model: str, lost: Sequence[Published], due: str) -> StoreError:
    """Return the error for pages of which nothing is kept that another model could embed.

    ``model`` is that of the index; ``due`` says when the pages are due.
    """
    return StoreError(
        f"site {site}: the text of {count(len(lost), 'page')} is not kept "
        f"({some([page.url for page in lost], len(lost))}), so another model cannot embed it; "
        f"{due}: run scrapy crawl docs -a site={site} with the model of the index ({model}), "
        "then scrapy reindex"
    )


class Remaker:
    """Makes the pages of one site; ``known`` has the fingerprints of its boilerplate.

    ``chunk_tokens`` is the setting's.
    """

    def __init__(
        self, site: SiteConfig, embedder: Embedder, known: Collection[str], chunk_tokens: int
    ) -> None:
        self._site, self._embedder, self._known = site, embedder, known
        self._made_by = made_by(site, chunk_tokens)

    def remake(self, page: Published, kept: Content) -> Remade:
        """Read the body again where that would be read in another way today, else cut the blocks.

        Raises:
            StoreError: the model reads too little of a text.
        """
        alike = read_alike(kept.made_by, self._made_by)
        try:
            again = self._read(page, kept) if kept.body and not alike else None
            return again or self._cut(page, kept, cut_as(kept.made_by, self._made_by))
        except ValueError as error:
            raise StoreError(f"{page.url}: {self._embedder.model}: {error}") from error

    def _read(self, page: Published, kept: Content) -> Remade | None:
        """Return a page as its kept body is read today; None for one that is no page any more.

        Whether such a page leaves the answers is for its next fetch to say.
        """
        item, document = reread(page, kept, self._site, self._known)
        if not self._is_page(document):
            return None
        item.verdict = Verdict.UNCHANGED
        entry = staged_content(item, document, self._embedder, page.changed_at, self._made_by)
        record = {
            "made_by": self._made_by,
            "generator": document.generator,
            "shown_digest": item.shown_digest,
        }
        return Remade(to_edit(entry), record, content_of(entry), read_again=True)

    def _is_page(self, document: Document) -> bool:
        barred = document.wall or document.index_page
        noindex = self._site.noindex == "hide" and says_noindex(document.robots)
        return not (barred or noindex) and any(block.plain.strip() for block in document.blocks)

    def _cut(self, page: Published, kept: Content, made_by: str) -> Remade:
        """Return a page with the chunks of its kept blocks."""
        tokens, limit = self._embedder.token_offsets, self._embedder.max_tokens
        chunks = chunk_page(page.key, page.title, kept.shown_blocks(), tokens, limit)
        record = {"made_by": made_by, "generator": kept.generator}
        if made_by == kept.made_by:
            return Remade(Edit(page, chunks), record)
        entry = Staged(
            page.key,
            page.url,
            Status.LIVE,
            Verdict.UNCHANGED,
            page.changed_at,
            changed_at=page.changed_at,
            digest=page.digest,
            links_digest=page.links_digest,
            title=page.title,
            simhash=page.simhash,
            canonical=kept.canonical,
            generator=kept.generator,
            left_out=kept.left_out,
            made_by=made_by,
            blocks=pack_blocks(kept.all_blocks()),
            body=pack(kept.body),
        )
        return Remade(Edit(to_edit(entry).page, chunks), record, content_of(entry))
