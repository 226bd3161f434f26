"""Many readers of a site that is published again and again, and what all that leaves open."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import threading
import time
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from freshcrawl.answers import search
from freshcrawl.reader import SiteReader
from tests.support.embedder import HashEmbedder
from tests.support.project import REPO, command, environment
from tests.support.site_writer import NAME, ROOT, SiteWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from freshcrawl.config import Config

Rows = list[dict[str, Any]]

QUESTION = "turn the handle and wait for the bell"
ALL = 10_000
PAGES = [f"page-{number:02}" for number in range(12)]
TOGETHER = PAGES[:4]
"""Pages that each publish changes, to the same number."""
PARTS = 3
LOG_BYTES = 2 * 1_100 * 4_096
"""SQLite writes a log back when it has 1,000 pages; there are two, and a commit may be larger."""
NUMBER = re.compile(r"number (\d{6})")


def texts(number: int) -> dict[str, str]:
    """Return the pages of a publish, all of them for the first; their length stays the same."""
    names = [*TOGETHER, PAGES[4 + number % 8]] if number else PAGES
    return {
        name: "\n\n".join(
            f"Part {part} of {name}: turn the handle, wait for bell {part}, see number {number:06}."
            for part in range(PARTS)
        )
        for name in names
    }


class Asking:
    """Asks for all there is again and again in a thread, and judges each answer."""

    def __init__(self, ask: Callable[[], Rows]) -> None:
        self._ask = ask
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.errors: list[str] = []
        self.seen: list[int] = []
        """Numbers of the generations that it got, each once."""
        self.asked = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(0.01):
            try:
                number = judged(self._ask())
                assert number >= max(self.seen, default=0), "an older generation came back"
            except Exception as error:
                self.errors.append(repr(error))
            else:
                if number not in self.seen[-1:]:
                    self.seen.append(number)
            self.asked += 1


def judged(rows: Rows) -> int:
    """Return of which publish an answer is, all of which must be of one.

    Raises:
        AssertionError: passages are missing, or are of several publishes.
    """
    pages: dict[str, list[str]] = {}
    for row in rows:
        pages.setdefault(row["url"].removeprefix(ROOT), []).append(NUMBER.findall(row["text"])[0])
    assert sorted(pages) == PAGES, f"only {sorted(pages)}"
    assert {len(found) for found in pages.values()} == {PARTS}, f"not whole: {pages}"
    numbers = {number for name in TOGETHER for number in pages[name]}
    assert len(numbers) == 1, f"of several generations: {pages}"
    return int(numbers.pop())


def ask_in_process(reader: SiteReader) -> Callable[[], Rows]:
    """Return what asks a reader of this process."""
    embedder = HashEmbedder()

    def ask() -> Rows:
        hits = search([reader], embedder, QUESTION, ALL, now=0.0, max_ages={NAME: 1.0})
        return [hit.to_json() for hit in hits]

    return ask


class QueryProcess:
    """A ``scrapy query -`` that stays open."""

    def __init__(self, state: Path, log: Path, *args: str) -> None:
        line = command(("query", "-", "--json", "-k", str(ALL), *args), state, "hash", 0, None)
        self._log = log
        with log.open("ab") as stderr:
            self.process = subprocess.Popen(
                line,
                cwd=REPO,
                env=environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )

    def ask(self, question: str = QUESTION) -> Any:
        """Send one question; return what the one line of the answer says."""
        assert self.process.stdin
        assert self.process.stdout
        print(question, file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        assert line, f"it has ended: {self.stderr}"
        return json.loads(line)

    @property
    def stderr(self) -> str:
        """What it wrote to stderr so far."""
        return self._log.read_text()

    def end(self) -> int:
        """Close its stdin; return its exit code."""
        self.process.communicate(timeout=60)
        return self.process.returncode

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


@dataclass
class Sample:
    """What is open and how much is stored at some time."""

    descriptors: dict[int, int]
    """Least number of open descriptors of each process within two seconds: searches come and go."""
    mapped: dict[int, int]
    """Index files that each process has mapped, those that were deleted too."""
    stored: int
    """Bytes of all files of the site, as if SQLite's logs were written back."""
    log: int
    """Bytes of SQLite's write-ahead logs."""
    index_files: int


def sample(folder: Path, processes: list[int]) -> Sample:
    """Look at the processes and at the files of a site."""
    least = {pid: descriptors(pid) for pid in processes}
    for _ in range(100):
        time.sleep(0.02)
        least = {pid: min(count, descriptors(pid)) for pid, count in least.items()}
    files = [path for path in folder.rglob("*") if path.is_file()]
    logs = [path for path in files if path.name.endswith("-wal")]
    others = [path for path in files if not path.name.endswith(("-wal", "-shm"))]
    return Sample(
        least,
        {pid: mapped(pid) for pid in processes},
        sum(database_bytes(p) if p.suffix == ".sqlite" else p.stat().st_size for p in others),
        sum(path.stat().st_size for path in logs),
        len(list((folder / "index").iterdir())),
    )


def database_bytes(path: Path) -> int:
    """Return how large a database is with what its log still holds."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as conn:
        [pages], [size] = conn.execute("PRAGMA page_count"), conn.execute("PRAGMA page_size")
    return int(pages[0]) * int(size[0])


def descriptors(pid: int) -> int:
    """Return how many files a process has open."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def mapped(pid: int) -> int:
    """Return how many index files a process has mapped."""
    lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    return len({line.split()[4] for line in lines if ".faiss" in line})


@dataclass
class Crowd:
    """What came of many publishes under many readers."""

    askings: list[Asking]
    samples: dict[int, Sample]
    """By the number of publishes so far."""
    generation: int
    """The last one; each publish makes one."""
    seconds: float
    """How long it took, with the readers at it."""


def publish_among_readers(
    state: Path, log: Path, publishes: int, sampled: list[int], *, processes: int, threads: int,
    pause_s: float,
) -> Crowd:  # fmt: skip
    """Publish so often while so many processes and threads read; threads share readers in pairs."""
    # What nobody needs any more must go at once, or the files would grow by the vectors.
    with SiteWriter(state, generations_kept=2, vector_retention_days=0.0) as writer:
        generation = writer.publish(texts(0))
        samples = {}
        with reading(writer.config, state, log, processes, threads) as (askings, pids):
            wait_for(askings, 0)
            began = time.monotonic()
            for number in range(1, publishes + 1):
                generation = writer.publish(texts(number))
                writer.tidy()
                time.sleep(pause_s)
                if number in sampled:
                    samples[number] = sample(state / NAME, [os.getpid(), *pids])
            wait_for(askings, publishes)
            seconds = time.monotonic() - began
        return Crowd(askings, samples, generation, seconds)


@contextmanager
def reading(
    config: Config, state: Path, log: Path, processes: int, threads: int
) -> Iterator[tuple[list[Asking], list[int]]]:
    """Have readers ask all the while; give them, and the ids of those that are processes."""
    with ExitStack() as stack:
        queries = [stack.enter_context(QueryProcess(state, log)) for _ in range(processes)]
        readers = [SiteReader(config, NAME) for _ in range((threads + 1) // 2)]
        for reader in readers:
            stack.callback(reader.close)
        asks: list[Callable[[], Rows]] = [query.ask for query in queries]
        asks += [ask_in_process(readers[number // 2]) for number in range(threads)]
        askings = [stack.enter_context(Asking(ask)) for ask in asks]
        yield askings, [query.process.pid for query in queries]


def wait_for(askings: list[Asking], number: int) -> None:
    """Wait until each reader has the last generation."""
    deadline = time.monotonic() + 120
    while any(asking.seen[-1:] != [number] for asking in askings):
        assert time.monotonic() < deadline, [(a.seen[-3:], a.errors[-3:]) for a in askings]
        time.sleep(0.05)


def assert_flat(crowd: Crowd, early: int, late: int) -> None:
    """Check that nobody failed, and that nothing grew between two numbers of publishes."""
    for asking in crowd.askings:
        assert asking.errors == []
        assert asking.asked > len(asking.seen) > 1
    before, after = crowd.samples[early], crowd.samples[late]
    for pid, count in after.descriptors.items():
        assert count <= before.descriptors[pid] + 3, after.descriptors
    assert max(after.mapped.values()) <= 4
    assert after.stored <= 1.2 * before.stored, f"{before.stored} became {after.stored} bytes"
    assert after.log <= LOG_BYTES
    assert after.index_files == 2 * 2
