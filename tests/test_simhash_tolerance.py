"""A tolerance of the simhash, off by default: what it lets pass in crawls, and what it never does.

The page is long, so that one word is hardly a bit of its simhash.
"""

from __future__ import annotations

import json
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.core.changes import TOLERANCE_MIN_WORDS
from freshcrawl.core.simhash import hamming, simhash
from freshcrawl.extract import extract
from tests.support.origin import Answer, Origin, page
from tests.support.project import export, report, scrapy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WORDS = " ".join(f"word{number} stays" for number in range(TOLERANCE_MIN_WORDS))
ON = "simhash_max_bits = 3"


def long_page(sentence: str = "It is safe.", code: str = "run --fast", more: str = "") -> str:
    body = page("Guide", WORDS, sentence, more)
    return body.replace("</main>", f"<pre>{code}</pre></main>")


def simhash_of(body: str) -> int:
    return simhash(extract(body, "http://127.0.0.1/").bare_markdown)


class Rig:
    """A site of one long page, crawled day by day."""

    def __init__(self, folder: Path, origin: Origin) -> None:
        self.origin, self.state = origin, folder / "state"
        self._toml, self._days = folder / "sites.toml", 0

    def crawl(self, body: str, table: str = ON) -> dict[str, Any]:
        """Crawl a day later with this page; return what was counted."""
        self.origin["/"] = body
        self._toml.write_text(f'[sites.docs]\nurl = "{self.origin.url}"\n{table}\n')
        self._days += 1
        done = scrapy(
            "crawl", "docs", "-a", "site=docs", "-a", "full=1",
            state=self.state,
            settings={"FRESHCRAWL_SITES": self._toml},
            clock_offset_s=self._days * 86_400,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
        return report(self.state)

    def text(self) -> str:
        """Return all that is in the answers."""
        return "\n".join(row["text"] for row in export(self.state))

    def explain(self) -> tuple[dict[str, Any], str]:
        """Return what is known of the page, and how it is said."""
        [known] = json.loads(scrapy("explain", self.origin.url, "--json", state=self.state).stdout)
        return dict(known), scrapy("explain", self.origin.url, state=self.state).stdout


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with Origin() as origin:
        yield Rig(tmp_path, origin)


def test_without_a_tolerance_one_word_is_a_change(rig: Rig) -> None:
    rig.crawl(long_page(), table="")
    assert rig.crawl(long_page("It is not safe."), table="")["changed"] == 1
    assert "It is not safe." in rig.text()


def test_one_word_is_let_pass_and_the_published_text_stays_the_measure(rig: Rig) -> None:
    rig.crawl(long_page())
    before = rig.explain()[0]
    found = rig.crawl(long_page("It is not safe."))
    assert (found["cosmetic"], found["changed"], found["generation"]) == (1, 0, 1)
    assert "It is safe." in rig.text()
    known, words = rig.explain()
    assert known["last_verdict"] == "cosmetic"
    assert known["difference"]["reason"].startswith("within simhash_max_bits (")
    assert 'of 3 bits): nothing -> "not"' in words
    # The validators are those of the text that is published: the other one has an ETag of its own.
    assert known["etag"] == before["etag"] == Answer(long_page()).etag
    assert rig.crawl(long_page("It is not safe."))["cosmetic"] == 1  # asked whole, no 304


def test_small_steps_do_not_drift_away_from_the_published_text(rig: Rig) -> None:
    bodies = [long_page(" ".join(f"other{n}" for n in range(words))) for words in range(0, 90, 3)]
    hashes = [simhash_of(body) for body in bodies]
    near, far = next(
        (near, far)
        for far, near in combinations(range(len(bodies) - 1, 0, -1), 2)
        if hamming(hashes[0], hashes[far]) > 3
        and max(hamming(hashes[0], hashes[near]), hamming(hashes[near], hashes[far])) <= 3
    )
    rig.crawl(bodies[0])
    assert rig.crawl(bodies[near])["cosmetic"] == 1
    assert rig.crawl(bodies[far])["changed"] == 1


def test_code_is_always_a_change_and_so_is_what_was_let_pass_once_the_tolerance_goes(
    rig: Rig,
) -> None:
    rig.crawl(long_page())
    assert rig.crawl(long_page(code="run --faster"))["changed"] == 1
    assert "run --faster" in rig.text()
    assert rig.crawl(long_page("It is not safe.", "run --faster"))["cosmetic"] == 1
    assert rig.crawl(long_page("It is not safe.", "run --faster"), table="")["changed"] == 1
    assert "It is not safe." in rig.text()
