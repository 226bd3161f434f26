"""``scrapy embed`` of a crawled site, beside sentence-transformers with the same texts."""

from __future__ import annotations

import shutil
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.embedding_report import Took
from freshcrawl.config import Config
from freshcrawl.embed_site import SiteEmbedding
from freshcrawl.staging import cut_anew, to_edit
from freshcrawl.state import make_embedder, open_for_reading, site_names
from tests.support.nginx import NginxSite
from tests.support.project import scrapy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def crawled(tree: Path, parts: Sequence[str], folder: Path) -> Config:
    """Crawl some parts of built documentation, all embedding left to others; return the settings.

    Raises:
        SystemExit: the crawl failed.
    """
    some = folder / "tree"
    for part in parts:
        source = tree / part
        copy = shutil.copytree if source.is_dir() else shutil.copy
        (some / part).parent.mkdir(parents=True, exist_ok=True)
        copy(source, some / part)
    state = folder / "state"
    with NginxSite(folder / "nginx") as site:
        site.deploy(some)
        apart = {"FRESHCRAWL_EMBED_APART": True}
        done = scrapy("crawl", "docs", "-a", f"url={site.url}", state=state, settings=apart)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return Config(state_dir=str(state))


def timed(
    config: Config, bare: Callable[[Sequence[str]], None], times: int
) -> list[dict[str, Took]]:
    """Return the seconds of ``scrapy embed`` and of ``bare`` for all texts that wait, in turns.

    The model is loaded before; each time begins with a copy of the state.
    """
    [name] = site_names(config)
    embedder = make_embedder(config)
    with closing(open_for_reading(config, name)) as state:
        whole = [state.staged_work(entry.key) for entry in state.staged()]
    edits = [to_edit(cut_anew(entry, embedder)) for entry in whole if entry]
    texts = list(
        {chunk.embed_digest: chunk.embed_text for e in edits for chunk in e.chunks}.values()
    )
    embedder.encode(texts[:8])
    rounds = []
    for number in range(times):
        copy = replace(config, state_dir=f"{config.state_dir}-{number}")
        shutil.copytree(config.state_dir, copy.state_dir)
        work = SiteEmbedding(copy, name, time.time, lambda _: None)

        def ours(work: SiteEmbedding = work) -> None:
            done = work.run()
            assert (done.chunks_embedded, done.pending_embed) == (len(texts), 0), done

        ways = {"scrapy embed": ours, "bare": lambda: bare(texts)}
        took = {}
        for way in list(ways)[:: 1 if number % 2 else -1]:
            began, worked = time.perf_counter(), time.process_time()
            ways[way]()
            took[way] = Took(time.perf_counter() - began, time.process_time() - worked)
        rounds.append(took)
        shutil.rmtree(Path(copy.state_dir))
    return rounds
