"""How long the work on a page holds up an event loop that runs beside it."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scrapy.http import HtmlResponse
from scrapy.utils.asyncio import run_in_thread

from freshcrawl.core.changes import content_digest, links_digest
from freshcrawl.core.pages import Verdict
from freshcrawl.core.simhash import simhash
from freshcrawl.core.token_diff import token_diff
from freshcrawl.extract import extract
from freshcrawl.items import Outcome, PageItem
from freshcrawl.staging import staged_content
from freshcrawl.stores.embedding import SentenceTransformerEmbedder
from freshcrawl.stores.model_files import MINILM
from freshcrawl.threads import in_turn

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from benchmarks.corpus import Page
    from freshcrawl.core.blocks import Document

    Work = Callable[[], Any]

TICK_S = 0.001
TIMES = 3
"""Each work is done so often; the middle result counts."""
BLOCKED_MAX_MS = 50.0


@dataclass(frozen=True, slots=True)
class Hold:
    """The longest that one piece of work held up the loop."""

    work: str
    url: str
    size: int
    """Bytes of the page."""
    in_thread: bool
    took_ms: float
    held_ms: float
    """CPU time of the work between two ticks: how long the loop waits on an idle machine."""
    waited_ms: float
    """Time between two ticks, with what other processes took of it."""


def holds_of(page: Page) -> list[Hold]:
    """Return what each piece of the work on a page does to the loop, as in a crawl."""
    body = page.html.decode("utf-8")
    document = extract(body, page.url)
    embedder = SentenceTransformerEmbedder(MINILM)
    item = _item(page, body, document)
    texts = [block.plain for block in document.blocks]
    edited = [text.replace("the", "each", 1) for text in texts]
    in_threads: dict[str, Work] = {
        "nothing": lambda: time.sleep(0.2),
        "extract": lambda: extract(body, page.url),
        "simhash": lambda: simhash(document.bare_markdown),
        "token_diff, all changed": lambda: token_diff(texts, edited),
        "chunks and packing": lambda: staged_content(item, document, embedder, 0.0, "bench"),
    }
    on_loop: dict[str, Work] = {
        "text of the response": lambda: HtmlResponse(page.url, body=page.html).text,
        "text without targets": lambda: document.bare_markdown,
        "digests": lambda: _digests(page, document),
    }
    in_threads["chunks and packing"]()  # loads the tokenizer
    size = len(page.html)
    found = [Hold(name, page.url, size, True, *_beside(work)) for name, work in in_threads.items()]
    return found + [
        Hold(name, page.url, size, False, *_on_loop(work)) for name, work in on_loop.items()
    ]


def burst(pages: Sequence[Page]) -> dict[str, tuple[float, float, float]]:
    """Return how long many pages at once take and hold up the loop, with and without turns."""
    bodies = [(page.html.decode("utf-8"), page.url) for page in pages]

    async def each_in_a_thread() -> None:
        await asyncio.gather(*(run_in_thread(extract, *body) for body in bodies))

    async def in_turns() -> None:
        await asyncio.gather(*(in_turn(extract, *body) for body in bodies))

    return {"each in a thread": _middle(each_in_a_thread), "in turns": _middle(in_turns)}


def _item(page: Page, body: str, document: Document) -> PageItem:
    return PageItem(
        page.url, page.url, Outcome.FETCHED, 0.0, body=body, document=document, title="Title",
        verdict=Verdict.CHANGED,
    )  # fmt: skip


def _digests(page: Page, document: Document) -> tuple[str, str]:
    return content_digest("", document.blocks), links_digest(page.url, "", document.blocks)


def _on_loop(work: Work) -> tuple[float, float, float]:
    """Return how long work takes, and that so long nothing else runs."""
    took = []
    for _ in range(TIMES):
        started = time.perf_counter()
        work()
        took.append(1000 * (time.perf_counter() - started))
    return (sorted(took)[TIMES // 2],) * 3


def _beside(work: Work) -> tuple[float, float, float]:
    """Return how long work takes in a thread and how long it holds up the loop, in ms."""

    async def in_thread() -> None:
        await in_turn(work)

    return _middle(in_thread)


def _middle(work: Callable[[], Coroutine[Any, Any, None]]) -> tuple[float, float, float]:
    runs = [asyncio.run(_ticking(work)) for _ in range(TIMES)]
    took, held, waited = (sorted(values)[TIMES // 2] for values in zip(*runs, strict=True))
    return took, held, waited


async def _ticking(work: Callable[[], Coroutine[Any, Any, None]]) -> tuple[float, float, float]:
    started = last = time.perf_counter()
    cpu = _cpu_of_threads()
    task = asyncio.ensure_future(work())
    held = waited = 0.0
    while not task.done():
        await asyncio.sleep(TICK_S)
        now, cpu_now = time.perf_counter(), _cpu_of_threads()
        waited, last = max(waited, now - last - TICK_S), now
        held, cpu = max(held, cpu_now - cpu - TICK_S), cpu_now
    await task
    return 1000 * (time.perf_counter() - started), 1000 * held, 1000 * waited


def _cpu_of_threads() -> float:
    """Return the CPU seconds of all threads but the loop's own."""
    return time.process_time() - time.thread_time()
