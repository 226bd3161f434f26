"""Embedding local models: speed of our path, of int8 and of a static model, and what they find.

``python -m benchmarks.embedding`` writes ``docs/benchmarks/embedding.md`` and ends with 1 if the
target is missed. All are timed in turns on the same texts, and compared within a turn, as other
work on the machine changes its speed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from benchmarks import embedding_site
from benchmarks.embedding_questions import QUESTIONS
from benchmarks.embedding_report import FIRST_VECTOR, OURS, Figures, Found, Took, passed, report
from freshcrawl.config import Config
from freshcrawl.core.chunks import chunk_page
from freshcrawl.embedding import Embedding
from freshcrawl.extract import extract
from freshcrawl.reading import page_title
from freshcrawl.state import make_embedder
from freshcrawl.stores.corpus import SqliteCorpus
from freshcrawl.stores.embedding import SentenceTransformerEmbedder
from freshcrawl.stores.onnx_encoder import OnnxEmbedder
from tests.support.corpora import corpus
from tests.support.models import minilm_folder, plain, static_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from freshcrawl.stores.base import Embedder

    Path_ = Callable[[Sequence[str]], None]

CORPUS = ("sqlalchemy", "2.0.44")
LEFT_OUT = ("changelog", "genindex.html", "search.html", "notfound.html")
ASKED = ("tutorial", "faq", "glossary.html", "errors.html")
"""Where the answers to the questions are looked for."""
TOP = 3
STARTS = 3
RESULT = Path(__file__).resolve().parents[1] / "docs" / "benchmarks" / "embedding.md"
FIRST = """
from freshcrawl.config import Config
from freshcrawl.state import make_embedder
make_embedder(Config(embed_backend={backend!r})).encode_query("a question")
"""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage as it is embedded."""

    page: str
    anchor: str
    text: str


@dataclass(slots=True)
class Loads:
    """Counts how often a model is loaded by our own code."""

    count: int = 0

    def note(self, real: Callable[..., Any]) -> Callable[..., Any]:
        """Return what loads a model like ``real`` and is counted."""

        def load(*args: Any, **kwargs: Any) -> Any:
            self.count += 1
            return real(*args, **kwargs)

        return load


def passages(embedder: Embedder) -> list[Passage]:
    """Return the passages of all pages, by page and place."""
    root = corpus(*CORPUS)
    found = []
    for path in sorted(root.rglob("*.html")):
        name = str(path.relative_to(root))
        if name.split("/", maxsplit=1)[0] in LEFT_OUT:
            continue
        url = f"https://docs.example.org/{name}"
        document = extract(path.read_text("utf-8", "replace"), url)
        title, limit = page_title(document), embedder.max_tokens
        chunks = chunk_page(url, title, document.blocks, embedder.token_offsets, limit)
        found += [Passage(name, chunk.anchor, chunk.embed_text) for chunk in chunks]
    return found


def our_path(embedder: Embedder, folder: Path) -> Path_:
    """Return what embeds texts as a crawl and ``scrapy embed`` do, vectors made durable."""

    def run(texts: Sequence[str]) -> None:
        by_digest = {sha256(text.encode()).hexdigest(): text for text in texts}
        with (
            tempfile.TemporaryDirectory(dir=folder) as place,
            closing(SqliteCorpus(Path(place) / "corpus.sqlite")) as kept,
        ):
            Embedding(Config()).embed(
                embedder, by_digest, lambda found: kept.put_vectors(embedder.model, found)
            )

    return run


def bare(model: Any) -> Path_:
    """Return what embeds texts by sentence-transformers alone."""

    def run(texts: Sequence[str]) -> None:
        ordered = sorted(texts, key=len)
        model.encode(ordered, batch_size=32, normalize_embeddings=True, show_progress_bar=False)

    return run


def timed(
    ways: dict[str, Path_], portions: Sequence[Sequence[str]], times: int
) -> list[dict[str, Took]]:
    """Return the seconds of each way for each portion of the texts, in turns, so many times."""
    for way in ways.values():
        way(portions[0][:8])  # loads the model
    found = []
    for number, texts in enumerate([*portions] * times):
        names = list(ways)
        turn = number % len(names)
        took = {}
        for name in names[turn:] + names[:turn]:
            began, worked = time.perf_counter(), time.process_time()
            ways[name](texts)
            took[name] = Took(time.perf_counter() - began, time.process_time() - worked)
        print(
            {name: f"{len(texts) / one.wall:.1f}/s" for name, one in took.items()}, file=sys.stderr
        )
        found.append(took)
    return found


def ask(embedder: Embedder, among: Sequence[Passage]) -> tuple[Found, Any]:
    """Return how many questions find their page and section, and the vectors of the passages."""
    vectors = embedder.encode([passage.text for passage in among])
    found = Found(embedder.model)
    for question in QUESTIONS:
        scores = vectors @ embedder.encode_query(question.text)
        best = [among[number] for number in np.argsort(-scores, kind="stable")[:TOP]]
        found.pages += any(passage.page == question.page for passage in best)
        found.first += best[0].page == question.page
        found.sections += any(
            (passage.page, passage.anchor) == (question.page, question.anchor) for passage in best
        )
    return found, vectors


def first_vector(backend: str) -> list[float]:
    """Return the seconds from the start of a process to its first vector, some times over."""
    took = []
    for _ in range(STARTS):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", FIRST.format(backend=backend)], check=True)
        took.append(time.perf_counter() - began)
    return took


def sampled(everything: Sequence[Passage], count: int) -> list[str]:
    """Return the texts of so many passages, evenly spread, each once."""
    texts = list(dict.fromkeys(passage.text for passage in everything))
    count = min(count, len(texts))
    return [texts[number * len(texts) // count] for number in range(count)]


def _unanswerable(among: Sequence[Passage]) -> Iterator[str]:
    there = {(passage.page, passage.anchor) for passage in among}
    for question in QUESTIONS:
        if (question.page, question.anchor) not in there:
            yield f"{question.page}#{question.anchor}"


def main() -> int:
    """Measure, write the report, and return 0 if the target is met."""
    options = argparse.ArgumentParser()
    options.add_argument("--passages", type=int, default=640)
    options.add_argument("--portions", type=int, default=4)
    options.add_argument("--times", type=int, default=3)
    options.add_argument("--site-times", type=int, default=3)
    given = options.parse_args()
    reference = plain(minilm_folder())
    loads = Loads()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models: dict[str, Embedder] = {
            OURS: make_embedder(Config()),
            "int8": OnnxEmbedder(Config().embed_model),
            "static": SentenceTransformerEmbedder(str(static_model(folder / "static"))),
        }
        everything = passages(models[OURS])
        among = [passage for passage in everything if passage.page.split("/")[0] in ASKED]
        if lost := list(_unanswerable(among)):
            raise SystemExit(f"no passage at {', '.join(lost)}")
        texts = sampled(everything, given.passages)
        portions = [texts[number :: given.portions] for number in range(given.portions)]
        models["int8"].encode(["converts the model"])  # its check of the vectors loads it, too
        ways = {key: our_path(model, folder) for key, model in models.items()}
        ways = {"bare": bare(reference), **ways}
        with patch(
            "freshcrawl.stores.embedding.load_model",
            loads.note(sys.modules["freshcrawl.stores.embedding"].load_model),
        ):
            figures = Figures(len(texts), len(everything), len(among), len(QUESTIONS), given.times)
            figures.rounds = timed(ways, portions, given.times)
            vectors = {}
            for key, model in models.items():
                figures.found[key], vectors[key] = ask(model, among)
            site = embedding_site.crawled(corpus(*CORPUS), ASKED, folder)
            figures.site = embedding_site.timed(site, bare(reference), given.site_times)
        figures.cosines = (vectors["int8"] * vectors[OURS]).sum(axis=1)
    figures.loads = loads.count
    figures.starts = {backend: first_vector(backend) for backend in FIRST_VECTOR}
    text = report(figures)
    RESULT.write_text(text, "utf-8")
    print(text)
    return 0 if passed(figures) else 1


if __name__ == "__main__":
    sys.exit(main())
