"""A reader that asks a site for all it has, again and again, while something writes to it."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, Self

from freshcrawl.answers import search
from freshcrawl.config import Config
from freshcrawl.reader import SiteReader
from tests.support.embedder import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

ALL = 1_000_000
QUESTION = "turn the handle and wait for the bell"
FIELDS = ("url", "anchor", "title", "heading_path", "text", "content_digest")

Passage = tuple[str, ...]
Answer = frozenset[Passage]


class Watcher:
    """Keeps what the answers became, one after the other, from one reader that stays open."""

    def __init__(self, state: Path, name: str, pause_s: float = 0.05) -> None:
        self._reader = SiteReader(Config(state_dir=str(state)), name)
        self._folder = state / name
        self._embedder = HashEmbedder()
        self._pause_s = pause_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self.answers: list[Answer] = []
        """Each answer that differs from the one before; an empty one counts."""
        self.errors: list[Exception] = []
        self.asked = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._reader.close()

    def wait(self, asked: int = 3) -> None:
        """Wait until it has asked some more times."""
        until, deadline = self.asked + asked, time.monotonic() + 60
        while self.asked < until and self._thread.is_alive():
            assert time.monotonic() < deadline, "the reader hangs"
            time.sleep(0.005)

    def _watch(self) -> None:
        while not self._stop.is_set():
            # Before the first crawl there is nothing to be read, and no error either.
            if (self._folder / "records.sqlite").exists() or self.answers:
                self._ask()
            self.asked += 1
            self._stop.wait(self._pause_s)

    def _ask(self) -> None:
        name = self._reader.name
        try:
            found = search(
                [self._reader], self._embedder, QUESTION, ALL, now=0.0, max_ages={name: 1.0}
            )
        except Exception as error:
            self.errors.append(error)
            return
        answer = passages(hit.to_json() for hit in found)
        if not self.answers or self.answers[-1] != answer:
            self.answers.append(answer)


def passages(rows: Iterable[Mapping[str, Any]]) -> Answer:
    """Return what hits or exported rows say, without scores and clocks.

    With a number, as a page may say the same twice under one heading.
    """
    counted = Counter(tuple(str(row[name]) for name in FIELDS) for row in rows)
    return frozenset(
        (*passage, str(number)) for passage, many in counted.items() for number in range(many)
    )


def of_page(answer: Answer) -> dict[str, set[Passage]]:
    """Return the passages by the URL of their page."""
    pages: dict[str, set[Passage]] = {}
    for passage in answer:
        pages.setdefault(passage[0], set()).add(passage)
    return pages


def assert_only(watcher: Watcher, *generations: Answer) -> None:
    """Check that each answer was wholly of one of these generations, never of an older one again.

    So no page that all of them have was missing at any time.
    """
    assert not watcher.errors, watcher.errors
    assert watcher.answers, "it has not seen any answer"
    places = [generations.index(answer) for answer in watcher.answers]
    assert places == sorted(places)


def assert_grows(watcher: Watcher, whole: Answer) -> None:
    """Check that whole pages were added from answer to answer, and none ever left."""
    assert not watcher.errors, watcher.errors
    pages = of_page(whole)
    before: Answer = frozenset()
    for answer in watcher.answers:
        assert before <= answer, "a page has vanished"
        assert all(found == pages[url] for url, found in of_page(answer).items()), "half a page"
        before = answer


def assert_page_by_page(watcher: Watcher, old: Answer, new: Answer) -> None:
    """Check that each page was wholly as before or wholly as afterwards, and went back never."""
    assert not watcher.errors, watcher.errors
    assert watcher.answers, "it has not seen any answer"
    before, after = of_page(old), of_page(new)
    done: set[str] = set()
    for answer in watcher.answers:
        pages = of_page(answer)
        now = {url for url, passages in pages.items() if passages == after.get(url)}
        assert all(pages[url] == before.get(url) for url in pages.keys() - now)
        assert pages.keys() >= before.keys() & after.keys()
        assert now >= done
        done = now
