"""Publishes texts to the real stores of a site as a run does, without a crawl."""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING, Any, Self

from freshcrawl.config import Config
from freshcrawl.core.blocks import Block
from freshcrawl.core.pages import PageRecord, Status
from freshcrawl.core.published import Staged
from freshcrawl.publishing import Publisher
from freshcrawl.staging import chunks_of, pack, pack_blocks
from freshcrawl.state import open_for_writing
from tests.support.embedder import HashEmbedder
from tests.support.project import HASH_EMBEDDER

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NAME = "docs"
ROOT = "https://docs.example.com/"


class SiteWriter:
    """The only writer of a site in ``state``; a page is its text, one passage a paragraph."""

    def __init__(self, state: Path, **settings: Any) -> None:
        self.config = Config(state_dir=str(state), embedder_class=HASH_EMBEDDER, **settings)
        self.state = open_for_writing(self.config, NAME, "test", time.time())
        self._embedder = HashEmbedder()
        self._publisher = Publisher(self.state, self.config, lambda: self._embedder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.state.close()

    def publish(self, texts: Mapping[str, str]) -> int:
        """Publish pages by name, commit their records and a report; return the generation."""
        now = time.time()
        staged = [self._staged(name, text, now) for name, text in texts.items()]
        result = self._publisher.publish(staged, f"run at {now!r}", time.time)
        for entry in staged:
            record = PageRecord(entry.key, entry.url, Status.LIVE, last_checked=now)
            self.state.records.put(f"page:{entry.key}", record.to_json())
        self.state.records.put("meta:test", {"report": "as long as those of runs are" * 1_000})
        self.state.records.commit()
        return result.generation

    def tidy(self) -> None:
        """Drop what is past its retention, as the end of a run does."""
        self._publisher.tidy(time.time())

    def _staged(self, name: str, text: str, now: float) -> Staged:
        key = f"docs.example.com/{name}"
        blocks = []
        for number, part in enumerate(text.split("\n\n")):
            title = f"Part {number}"
            blocks.append(Block("heading", f"## {title}", level=2, title=title))
            blocks.append(Block("paragraph", part))
        return Staged(
            key=key,
            url=ROOT + name,
            status=Status.LIVE,
            verdict="changed",
            staged_at=now,
            changed_at=now,
            digest=hashlib.sha256(text.encode()).hexdigest(),
            title=name,
            blocks=pack_blocks(blocks),
            body=pack(f"<html>{text}</html>"),
            chunks=chunks_of(key, name, blocks, self._embedder),
        )
