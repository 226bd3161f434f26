"""What was published of a page: its versions, and how two of them differ."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from freshcrawl.core.boilerplate import without
from freshcrawl.core.pages import Status
from freshcrawl.core.report import iso
from freshcrawl.core.text_diff import unified, words_changed
from freshcrawl.explanation import key_in
from freshcrawl.staging import Content, unpack_blocks
from freshcrawl.stores.base import DamagedContentError, StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from freshcrawl.core.blocks import Block
    from freshcrawl.core.pages import PageRecord
    from freshcrawl.core.published import Published, Staged
    from freshcrawl.core.versions import Version
    from freshcrawl.state import SiteState


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two texts of a diff."""

    name: str
    """What the header line says."""
    facts: dict[str, Any]
    text: str | None
    """Markdown; "" for a page that is not in the answers, None if it is not kept any more."""


def history(state: SiteState, url: str) -> dict[str, Any] | None:
    """Return the kept versions of a page, newest first; None if the site does not know it.

    Raises:
        ConfigError: it is not the URL of a page.
    """
    key = key_in(state, url)
    if key is None:
        return None
    record, versions = _known(state, key)
    if record is None and not versions:
        return None
    target = _alias(state, record)
    texts = [_readable(state, version.page) for version in versions]
    return {
        "site": state.name,
        "key": key,
        "url": record.url if record else versions[0].page.url,
        "status": record.status if record else versions[0].page.status,
        "reason": record.reason if record else "",
        "alias_of": record.alias_of if record else "",
        "moved_to": target,
        "versions": [
            _version(version, text, texts[place + 1 :][:1])
            for place, (version, text) in enumerate(zip(versions, texts, strict=True))
        ],
    }


def diff(
    state: SiteState, url: str, old: int | None, new: int | None, *, staged: bool = False
) -> dict[str, Any] | None:
    """Return how two versions of a page differ; None if the site does not know it.

    ``old`` and ``new`` are generations; by default the version before the newer one, and the
    current one. With ``staged`` the newer text is the one that waits to be published.

    Raises:
        ConfigError: it is not the URL of a page.
        StoreError: there is no such version, or its content is not kept any more.
    """
    key = key_in(state, url)
    if key is None:
        return None
    record, versions = _known(state, key)
    if record is None and not versions:
        return None
    if record is not None and record.status == Status.FORGOTTEN:
        raise StoreError(f"{key} was {record.reason}")
    _refuse_unpublished(state, (old, new))
    if staged:
        sides = _current(state, key, versions), _waiting(state, key)
    else:
        sides = _pair(state, key, versions, old, new)
    if gone := next((side for side in sides if side.text is None), None):
        raise StoreError(f"the content of {gone.name} is not kept any more")
    before, after = (side.text or "" for side in sides)
    added, removed = words_changed(before, after)
    return {
        "site": state.name,
        "key": key,
        "from": sides[0].facts,
        "to": sides[1].facts,
        "words_added": added,
        "words_removed": removed,
        "diff": unified(before, after, (sides[0].name, sides[1].name)),
    }


def _known(state: SiteState, key: str) -> tuple[PageRecord | None, list[Version]]:
    with closing(state.corpus.snapshot()) as snapshot:
        return state.page(key), snapshot.versions(key)


def _refuse_unpublished(state: SiteState, generations: tuple[int | None, ...]) -> None:
    with closing(state.corpus.snapshot()) as snapshot:
        current = snapshot.generation
    for generation in generations:
        if generation is not None and not 0 < generation <= current:
            raise StoreError(f"there is no generation {generation}; the current one is {current}")


def _alias(state: SiteState, record: PageRecord | None) -> str:
    """Return the URL of the page that a page moved to, "" if it did not."""
    if record is None or record.status != Status.ALIAS or not record.alias_of:
        return ""
    target = state.page(record.alias_of)
    return target.url if target else record.alias_of


def _version(version: Version, text: str | None, older: Sequence[str | None]) -> dict[str, Any]:
    page = version.page
    last = None if version.to_gen is None else version.to_gen - 1
    row: dict[str, Any] = {
        "from_generation": page.from_gen,
        "to_generation": last,
        "published_at": iso(version.published_at),
        "left_at": iso(version.left_at),
        "changed_at": iso(page.changed_at),
        "status": page.status,
        "url": page.url,
        "title": page.title,
        "content_digest": page.digest,
        "content_kept": text is not None,
        "words_added": None,
        "words_removed": None,
    }
    before = older[0] if older else None
    if text is not None and before is not None:
        row["words_added"], row["words_removed"] = words_changed(before, text)
    return row


def _readable(state: SiteState, page: Published) -> str | None:
    """Return a version's Markdown, None if it is not kept any more or is damaged."""
    try:
        return _text(state, page)
    except (DamagedContentError, ValueError, TypeError, AttributeError):  # or no such JSON
        return None


def _text(state: SiteState, page: Published) -> str | None:
    """Return a version's Markdown, None if it is not kept any more.

    Raises:
        DamagedContentError: it cannot be read.
    """
    if page.status != Status.LIVE:
        return ""
    content = state.corpus.get_content(page.content) if page.content else None
    return _markdown(Content.read(content).shown_blocks()) if content is not None else None


def _markdown(blocks: Sequence[Block]) -> str:
    return "\n\n".join(block.text for block in blocks)


def _side(state: SiteState, version: Version) -> Side:
    page = version.page
    live = "" if page.status == Status.LIVE else f" ({page.status})"
    at = iso(version.published_at) or "an unknown time"
    facts = {
        "generation": page.from_gen,
        "published_at": iso(version.published_at),
        "status": page.status,
        "title": page.title,
        "content_digest": page.digest,
    }
    name = f"{page.url} generation {page.from_gen}, {at}{live}"
    return Side(name, facts, _text(state, page))


def _current(state: SiteState, key: str, versions: Sequence[Version]) -> Side:
    if versions and versions[0].to_gen is None:
        return _side(state, versions[0])
    return Side(f"{key} (not published)", {"generation": None}, "")


def _waiting(state: SiteState, key: str) -> Side:
    entry = state.staged_work(key)
    if entry is None:
        raise StoreError(f"nothing of {key} waits to be published")
    live = entry.status == Status.LIVE
    held = f", held: {entry.held}" if entry.held else ""
    status = "" if live else f" ({entry.status})"
    facts = {
        "generation": None,
        "found_at": iso(entry.staged_at),
        "held": entry.held,
        "status": entry.status,
        "title": entry.title,
        "content_digest": entry.digest,
    }
    name = f"{entry.url} staged, {iso(entry.staged_at)}{held}{status}"
    return Side(name, facts, _staged_text(entry) if live else "")


def _staged_text(entry: Staged) -> str:
    return _markdown(without(unpack_blocks(entry.blocks), entry.left_out))


def _pair(
    state: SiteState, key: str, versions: Sequence[Version], old: int | None, new: int | None
) -> tuple[Side, Side]:
    """Return the two versions that a diff is about."""
    if not versions:
        raise StoreError(f"{key} was never published")
    newer = versions[0] if new is None else _in(versions, key, new)
    if old is not None:
        return _side(state, _in(versions, key, old)), _side(state, newer)
    for later, earlier in pairwise(versions):
        if later is newer:
            return _side(state, earlier), _side(state, newer)
    raise StoreError(
        f"no version of {key} before generation {newer.page.from_gen} is kept; kept: "
        f"{_spans(versions)}"
    )


def _in(versions: Sequence[Version], key: str, generation: int) -> Version:
    for version in versions:
        if version.is_in(generation):
            return version
    raise StoreError(
        f"no version of {key} in generation {generation} is kept; kept: {_spans(versions)}"
    )


def _spans(versions: Sequence[Version]) -> str:
    return ", ".join(span(v.page.from_gen, v.to_gen and v.to_gen - 1) for v in reversed(versions))


def span(first: int, last: int | None) -> str:
    """Return the generations of a version in words; ``last`` is None for the current one."""
    if last is None:
        return f"{first}-"
    return str(first) if first == last else f"{first}-{last}"
