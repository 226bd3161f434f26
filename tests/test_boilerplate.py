"""Site boilerplate by real crawls of a site of which no generator is known."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.origin import Origin
from tests.support.project import (
    REPO,
    command,
    environment,
    export,
    export_without_clocks,
    report,
    scrapy,
)
from tests.support.soup import FRAME_WORDS, NEW, TOPICS, Soup, Template

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import SiteFactory

pytestmark = pytest.mark.nginx

FULL = ("-a", "full=1")
MANY = 30
"""Pages that no guard calls few."""
THIRTY = tuple(f"{topic}{'-again' * round_}" for round_ in range(3) for topic in TOPICS)[:MANY]


class Rig:
    """A site behind nginx and its state; each crawl is a day after the one before."""

    def __init__(self, factory: SiteFactory, folder: Path) -> None:
        self.site = factory()
        self.folder = folder
        self.state = folder / "state"
        self._days = 0

    def deploy(self, soup: Soup) -> None:
        """Serve the site as ``soup`` has it."""
        self.site.deploy(soup.write(self.folder / "tree"))

    def crawl(self, *args: str, state: Path | None = None) -> dict[str, Any]:
        """Crawl and return the report."""
        self._days += 1
        line = ("crawl", "docs", "-a", f"url={self.site.url}", *args)
        state = state or self.state
        done = scrapy(*line, state=state, clock_offset_s=self._days * 86_400)
        assert done.returncode in (0, 3), done.stderr[-3000:]
        assert "Traceback" not in done.stderr
        return report(state)

    def crash(self, seam: str, *args: str) -> None:
        """Crawl in a process that is killed when it reaches ``seam``."""
        self._days += 1
        offset = self._days * 86_400
        line = command(("crawl", "docs", "-a", f"url={self.site.url}", *args), self.state, "hash",
                       offset, None)  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-m", "tests.support.crash_at", seam, *line[3:]],
            cwd=REPO, env=environment(), capture_output=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == -signal.SIGKILL, done.stderr[-3000:]

    def explain(self, topic: str) -> dict[str, Any]:
        """Return what is known of a page."""
        url = f"{self.site.url}{topic}.html"
        [found] = json.loads(scrapy("explain", url, "--json", state=self.state).stdout)
        return dict(found)

    def rows(self) -> list[dict[str, Any]]:
        """Return what is in the answers."""
        return export_without_clocks(self.state)

    def frame(self) -> set[str]:
        """Return the words of the frame that are in the answers."""
        text = "\n".join(row["text"] for row in self.rows())
        return {word for word in FRAME_WORDS if word in text}

    def fresh(self) -> list[dict[str, Any]]:
        """Return what a first crawl of the site as it is now exports."""
        state = self.folder / f"fresh-{self._days}"
        self.crawl(state=state)
        return export_without_clocks(state)


@pytest.fixture
def rig(nginx_site: SiteFactory, tmp_path: Path) -> Rig:
    return Rig(nginx_site, tmp_path)


def test_first_crawl_leaves_the_frame_out_and_keeps_what_is_never_boilerplate(rig: Rig) -> None:
    rig.deploy(Soup())
    first = rig.crawl()
    assert (first["new"], first["remade"]) == (len(TOPICS), 0)
    assert rig.frame() == set()
    texts = [row["text"] for row in rig.rows()]
    for same_everywhere in ("acme --version", "say more"):
        assert sum(same_everywhere in text for text in texts) == len(TOPICS)
    assert sum(row["heading_path"][-1] == "Example" for row in rig.rows()) == len(TOPICS)
    page = rig.explain("install")
    assert (page["generator"], page["left_out"]) == ("body", 5)
    assert page["boilerplate"]
    words = scrapy("explain", f"{rig.site.url}install.html", state=rig.state).stdout
    assert "no main element known, so the whole body; 5 blocks left out" in words


def test_nothing_changed_nothing_done(rig: Rig) -> None:
    rig.deploy(Soup())
    rig.crawl()
    files = [*(rig.state.glob("*/index/*")), *rig.state.glob("*/corpus.sqlite")]
    before = {path: path.read_bytes() for path in files}
    again = rig.crawl(*FULL)
    assert again["not_modified"] == again["unchanged"] == len(TOPICS)
    assert (again["generation"], again["remade"]) == (1, 0)
    assert {path: path.read_bytes() for path in files} == before
    rig.crawl(*FULL)
    assert {path: path.read_bytes() for path in files} == before


def test_the_order_of_the_sitemap_does_not_count(tmp_path: Path) -> None:
    soup, exports = Soup(), []
    with Origin() as origin:
        paths = [f"/{topic}.html" for topic in TOPICS]
        for topic in TOPICS:
            origin[f"/{topic}.html"] = soup.page(topic)
        for seed in range(3):
            random.Random(seed).shuffle(paths)
            origin.serve_sitemap(*paths)
            state = tmp_path / f"state-{seed}"
            assert scrapy("crawl", "docs", "-a", f"url={origin.url}", state=state).returncode == 0
            exports.append(export_without_clocks(state))
    assert exports[0] == exports[1] == exports[2]
    assert not any(word in row["text"] for row in exports[0] for word in FRAME_WORDS)


@pytest.mark.parametrize("topics", [TOPICS, THIRTY], ids=["few pages", "more than a guard lets by"])
def test_redesign_changes_no_page(rig: Rig, topics: tuple[str, ...]) -> None:
    rig.deploy(Soup(topics))
    rig.crawl()
    before, clocks = rig.rows(), {row["id"]: row["last_changed"] for row in export(rig.state)}
    schedule = rig.explain(topics[0])["changes"]
    rig.deploy(Soup(topics, NEW))
    run = rig.crawl(*FULL)
    assert (run["changed"], run["cosmetic"], run["links_only"]) == (0, len(topics), 0)
    assert (run["chunks_embedded"], run["held"]) == (0, 0)
    assert rig.rows() == before
    assert {row["id"]: row["last_changed"] for row in export(rig.state)} == clocks
    page = rig.explain(topics[0])
    assert (page["last_verdict"], page["changes"], page["churn"]) == ("cosmetic", schedule, 0)
    # What was read is known as it is now: no body is asked for again.
    again = rig.crawl(*FULL)
    assert again["not_modified"] == again["unchanged"] == len(topics)
    assert again["generation"] == run["generation"]
    assert rig.rows() == rig.fresh()


def test_an_edit_in_the_same_run_as_a_redesign_is_a_change(rig: Rig) -> None:
    rig.deploy(Soup())
    rig.crawl()
    rig.deploy(Soup(template=NEW, edits={"backup": "To backup the server, ask first."}))
    run = rig.crawl(*FULL)
    assert (run["changed"], run["cosmetic"]) == (1, len(TOPICS) - 1)
    assert run["urls"]["changed"] == [f"{rig.site.url}backup.html"]
    assert 0 < run["chunks_embedded"] <= 2
    assert any("ask first" in row["text"] for row in rig.rows())
    assert rig.frame() == set()
    assert rig.rows() == rig.fresh()


@pytest.mark.nightly
def test_redesign_that_comes_page_by_page(rig: Rig) -> None:
    """Pages count as changed until half of them have the new frame; then it is left out of all."""
    rig.deploy(Soup())
    rig.crawl()
    before, seen = rig.rows(), []
    for count in (2, 5, 8, 12):
        rig.deploy(Soup(templates=dict.fromkeys(TOPICS[:count], NEW)))
        run = rig.crawl(*FULL)
        shown = sorted(word for word in NEW.words() if word in rig.frame())
        old = rig.frame() - set(NEW.words())
        seen.append((run["changed"], run["cosmetic"], run["remade"], bool(shown), bool(old)))
    assert seen == [
        (2, 0, 0, True, False),
        (3, 0, 0, True, False),
        (0, 3, 5, False, False),
        (0, 4, 0, False, False),
    ]
    assert rig.rows() == before == rig.fresh()


@pytest.mark.parametrize("count", [4, 5])
def test_a_site_of_four_pages_has_no_boilerplate(rig: Rig, count: int) -> None:
    rig.deploy(Soup(TOPICS[:count]))
    rig.crawl()
    assert bool(rig.frame()) is (count == 4)
    assert bool(rig.explain(TOPICS[0])["boilerplate"]) is (count == 5)


def test_pages_with_nothing_of_their_own_keep_what_they_have(rig: Rig) -> None:
    rig.deploy(Soup())
    tree = rig.folder / "tree"
    frame = "".join(Template().before)
    (tree / "blank.html").write_text(f"<body>{frame}</body>")
    (tree / "stub.html").write_text(f"<body>{frame}<h1>Stub</h1></body>")
    rig.site.deploy(tree)
    rig.crawl()
    kept = {row["url"].rpartition("/")[2] for row in rig.rows() if "cookies" in row["text"]}
    assert kept == {"blank.html", "stub.html"}


@pytest.mark.nightly
def test_any_history_ends_as_a_first_crawl(rig: Rig) -> None:
    third = Template(before=OLD_AND_NEW, after=NEW.after)
    history = [
        Soup(TOPICS[:4]),
        Soup(TOPICS[:7]),
        Soup(TOPICS, edits={"install": "Ask."}),
        Soup(TOPICS, NEW, edits={"install": "Ask.", "query": "Do not."}),
        Soup(TOPICS, templates=dict.fromkeys(TOPICS[3:8], NEW)),
        Soup(TOPICS[2:], NEW),
        Soup(TOPICS[:9], third, edits={"roles": "New."}),
        Soup(TOPICS, third, templates=dict.fromkeys(TOPICS[:6], NEW)),
        Soup(TOPICS[:6]),
    ]
    for soup in history:
        rig.deploy(soup)
        rig.crawl(*FULL, "-s", "FRESHCRAWL_GUARD_REMOVED_RATIO=1")
    rig.crawl(*FULL)
    assert rig.rows() == rig.fresh()
    assert rig.frame() == set()
    # Down to four pages, which have nothing in common.
    rig.deploy(Soup(TOPICS[:4]))
    for _ in range(3):
        rig.crawl(*FULL)
    assert rig.rows() == rig.fresh()
    assert rig.frame() != set()


OLD_AND_NEW = (*Template().before[:2], *NEW.before[1:])


@pytest.mark.parametrize(
    "seam",
    [
        pytest.param("freshcrawl.boilerplate.settling:settle", marks=pytest.mark.nightly),
        pytest.param("freshcrawl.tally:release", marks=pytest.mark.nightly),
        "freshcrawl.publishing:Publisher.publish",
        "freshcrawl.publishing:write_index",
        pytest.param("freshcrawl.run:Run.adopt", marks=pytest.mark.nightly),
        pytest.param("freshcrawl.run:Run.finish", marks=pytest.mark.nightly),
    ],
)
def test_killed_at_the_end_of_a_run_with_a_redesign(rig: Rig, seam: str) -> None:
    rig.deploy(Soup())
    rig.crawl()
    before = rig.rows()
    rig.deploy(Soup(template=NEW))
    rig.crash(seam, *FULL)
    assert rig.rows() == before
    run = rig.crawl(*FULL)
    assert (run["changed"], run["chunks_embedded"]) == (0, 0)
    assert rig.rows() == before
    again = rig.crawl(*FULL)
    assert again["not_modified"] == again["unchanged"] == len(TOPICS)
    assert rig.rows() == rig.fresh()
