"""Site boilerplate on real pages: what is lost of their text, and what is left of the frame.

``python -m benchmarks.boilerplate`` prints the tables of ``docs/benchmarks/boilerplate.md``. Each
page is read twice: as it is, where its generator's main element gives the true text, and with
that element unknown, so that the whole body is taken. For the second reading all that is outside
of the main element loses its classes, ids and roles, and becomes divs, as on a site of a theme
that nobody has seen. Words are counted as multisets: recall is the share of the true words that
are there, leak the share of the words there that are not true.
"""

from __future__ import annotations

import re
import time
import tracemalloc
import zlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unittest.mock import patch

from freshcrawl.core.boilerplate import find, learn, page_prints, without
from freshcrawl.core.pages import Status, Verdict
from freshcrawl.core.published import Staged
from freshcrawl.extract import extract
from freshcrawl.extract.selectors import BODY, find_main
from freshcrawl.reading import page_title
from freshcrawl.staging import Content, content_of, pack, pack_blocks
from tests.support.corpora import corpus

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from freshcrawl.core.blocks import Block, Document
    from freshcrawl.core.boilerplate import PagePrints
    from freshcrawl.extract.dom import Element
    from freshcrawl.extract.selectors import Rule

CORPORA = (
    ("lxml", "6.0.2"), ("alembic", "1.16.5"), ("mako", "1.3.10"), ("sqlalchemy", "2.0.44"),
)  # fmt: skip
MAX_PAGES = 100
NAMES = ("class", "id", "role", "aria-label", "aria-hidden")
FRAME_TAGS = frozenset({"nav", "header", "footer", "aside", "main", "section", "article"})
WORD = re.compile(r"\w+")


@dataclass(slots=True)
class Page:
    """One page of a corpus."""

    name: str
    html: bytes
    title: str
    truth: Counter[str]
    blocks: list[Block]
    """Of the whole body."""


def words(blocks: Sequence[Block]) -> Counter[str]:
    """Return the words of blocks, link targets aside."""
    return Counter(word for block in blocks for word in WORD.findall(block.plain.lower()))


def whole_body(html: bytes, url: str) -> Document:
    """Return a page as it is read where no main element is known, nor anything of its frame."""

    def body(root: Element) -> tuple[Element | None, Rule]:
        main, _ = find_main(root)
        for el in [] if main is None else _outside(root, main):
            for name in NAMES:
                el.attrib.pop(name, None)
            if el.tag in FRAME_TAGS:
                el.tag = "div"
        return root.find(".//body"), BODY

    with patch("freshcrawl.extract.document.find_main", body):
        return extract(html, url)


def _outside(root: Element, main: Element) -> list[Element]:
    inside = set(main.iter())
    return [el for el in root.iter() if el not in inside and isinstance(el.tag, str)]


def read(folder: Path) -> Iterator[Page]:
    """Yield the pages of a corpus that have a main element and text."""
    paths = sorted(folder.rglob("*.html"))
    for path in paths[:: max(1, len(paths) // MAX_PAGES)]:
        html = path.read_bytes()
        name = path.relative_to(folder).as_posix()
        url = f"https://docs.example.com/{name}"
        true = extract(html, url)
        if true.generator != BODY.name and true.blocks and not true.index_page:
            document = whole_body(html, url)
            yield Page(name, html, page_title(document), words(true.blocks), document.blocks)


def score(truth: Counter[str], found: Counter[str]) -> tuple[float, float]:
    """Return recall and leak in percent."""
    both = (truth & found).total()
    return 100 * both / max(truth.total(), 1), 100 * (1 - both / max(found.total(), 1))


def row(name: str, pages: Sequence[Page], known: Sequence[str]) -> str:
    """Return the line of a corpus."""
    before, after, worst, left_out, emptied = [], [], (0.0, ""), 0, 0
    truth, body, rest = Counter[str](), Counter[str](), Counter[str]()
    for page in pages:
        places = find(page.blocks, frozenset(known))
        shown = words(without(page.blocks, places))
        before.append(score(page.truth, words(page.blocks)))
        after.append(score(page.truth, shown))
        loss = before[-1][0] - after[-1][0]
        worst = max(worst, (loss, page.name))
        left_out += len(places)
        emptied += not shown
        tagged = ((truth, page.truth), (body, words(page.blocks)), (rest, shown))
        for total, counts in tagged:
            total.update({f"{page.name} {word}": count for word, count in counts.items()})
    cells = [*score(truth, body), *score(truth, rest)]
    numbers = " | ".join(f"{cell:.1f}" for cell in (cells[1], cells[3], cells[0], cells[2]))
    lost = f"{worst[0]:.1f} ({worst[1]})" if worst[0] else "0"
    mean = f"{left_out / len(pages):.1f}"
    return f"| {name} | {len(pages)} | {len(known)} | {mean} | {numbers} | {lost} | {emptied} |"


def kept(page: Page) -> bytes:
    """Return a page as the corpus keeps it."""
    entry = Staged(
        page.name, page.name, Status.LIVE, Verdict.NEW, 0.0, title=page.title, generator="body",
        blocks=pack_blocks(page.blocks), body=pack(page.html.decode("utf-8", "replace")),
    )  # fmt: skip
    return zlib.compress(content_of(entry))


def prints(pages: Sequence[tuple[str, bytes]]) -> Iterator[PagePrints]:
    """Yield what is learned from kept pages, one after the other."""
    for title, content in pages:
        yield page_prints(title, Content.read(zlib.decompress(content)).all_blocks())


def cost(name: str, pages: Sequence[Page]) -> str:
    """Return what learning from a corpus as it is kept costs, for 1,000 pages."""
    stored = [(page.title, kept(page)) for page in pages]
    size = sum(len(page.html) for page in pages) / len(pages) / 1000
    started = time.process_time()
    learn(prints(stored))
    seconds = time.process_time() - started
    tracemalloc.start()
    learn(prints(stored))
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    scale = 1000 / len(pages)
    return f"| {name} | {len(pages)} | {size:.0f} | {seconds * scale:.1f} | {peak:.0f} |"


def main() -> None:
    """Print the tables."""
    corpora = {f"{n} {v}": list(read(corpus(n, v))) for n, v in CORPORA}
    print("| Pages of | pages | learned | left out a page | leak before | leak after"
          " | recall before | recall after | worst page loses | left empty |")  # fmt: skip
    print("|---" * 10 + "|")
    for name, pages in corpora.items():
        known = learn(page_prints(page.title, page.blocks) for page in pages)
        print(row(name, pages, known))
    print("\n| Pages of | pages | kB of HTML a page | s for 1,000 pages | peak MB |")
    print("|---" * 5 + "|")
    for name, pages in corpora.items():
        print(cost(name, pages))


if __name__ == "__main__":
    main()
