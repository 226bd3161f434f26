"""``scrapy query -``: one process answers question after question while crawls publish."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.crowd import QueryProcess
from tests.support.origin import Origin, page
from tests.support.project import REPO, command, environment, scrapy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Site:
    """A site of two pages, and its crawls."""

    def __init__(self, origin: Origin, state: Path) -> None:
        self.origin, self.state = origin, state
        self.write("/a", "Turn the handle.")
        self.write("/b", "Wait for the bell.")
        origin.serve_sitemap("/a", "/b")

    def write(self, path: str, text: str) -> None:
        """Set the text of a page."""
        self.origin[path] = page(path, text)

    def crawl(self) -> None:
        """Crawl all of it."""
        done = scrapy(
            "crawl", "docs", "-a", f"url={self.origin.url}", "-a", "full=1", state=self.state
        )
        assert done.returncode == 0, done.stderr[-2000:]


@pytest.fixture
def site(state: Path) -> Iterator[Site]:
    with Origin() as origin:
        yield Site(origin, state)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Return a site that was crawled once, and is left as it is."""
    with Origin() as origin:
        site = Site(origin, tmp_path_factory.mktemp("crawled") / "state")
        site.crawl()
        yield site


def texts(answer: Any) -> set[str]:
    assert isinstance(answer, list), answer
    return {hit["text"].split("\n\n")[-1] for hit in answer}


def lines(text: str, state: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Give a text to ``scrapy query -`` and wait until it has ended."""
    return subprocess.run(
        command(("query", "-", *args), state, "hash", 0, None),
        input=text,
        cwd=REPO,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_answers_follow_the_crawls(site: Site, tmp_path: Path) -> None:
    with QueryProcess(site.state, tmp_path / "log") as query:
        assert "nothing is indexed yet" in query.ask()["error"]
        site.crawl()
        assert texts(query.ask()) == {"Turn the handle.", "Wait for the bell."}
        site.write("/a", "Pull the lever.")
        site.crawl()
        assert texts(query.ask()) == {"Pull the lever.", "Wait for the bell."}
        [first, _] = query.ask("pull lever")
        assert (first["title"], first["stale"]) == ("/a", False)
        shutil.rmtree(site.state)
        assert "nothing is indexed yet" in query.ask()["error"]
        site.crawl()
        assert texts(query.ask()) == {"Pull the lever.", "Wait for the bell."}
        assert query.end() == 0
        assert query.stderr.count("nothing is indexed yet") == query.stderr.count("\n") == 2


def test_lines_are_answered_in_order_and_empty_ones_skipped(crawled: Site) -> None:
    done = lines("handle\n\n   \nbell", crawled.state, "--json", "-k", "1")
    assert (done.returncode, done.stderr) == (0, "")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [texts(answer) for answer in answers] == [{"Turn the handle."}, {"Wait for the bell."}]


def test_answers_for_reading_are_those_of_single_questions(crawled: Site) -> None:
    many = lines("handle\nbell\n", crawled.state, "-k", "1")
    single = [scrapy("query", text, "-k", "1", state=crawled.state) for text in ("handle", "bell")]

    def links(text: str) -> list[str]:
        return [line for line in text.splitlines() if crawled.origin.url in line]

    assert (many.returncode, many.stderr) == (0, "")
    assert links(many.stdout) == [link for one in single for link in links(one.stdout)]
    assert len(links(many.stdout)) == 2


def test_bytes_that_are_no_text_do_not_end_it(crawled: Site) -> None:
    done = subprocess.run(
        command(("query", "-", "--json"), crawled.state, "hash", 0, None),
        input=b"\xff\xfe bell\nhandle\n",
        cwd=REPO,
        env=environment(),
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout.count(b"\n"), done.stderr) == (0, 2, b"")


def test_one_damaged_site_does_not_silence_the_others(
    crawled: Site, state: Path, tmp_path: Path
) -> None:
    shutil.copytree(crawled.state, state)
    broken = state / "broken"
    broken.mkdir()
    (broken / "records.sqlite").write_bytes(b"no database at all, but long enough to be one" * 9)
    with QueryProcess(state, tmp_path / "log") as query:
        for number in (1, 2):
            assert texts(query.ask()) == {"Turn the handle.", "Wait for the bell."}
            assert query.stderr.count("broken/records.sqlite") == number
        assert query.end() == 0


@pytest.fixture
def sigint() -> Iterator[None]:
    """Let started processes get SIGINT, which those of a shell's background jobs ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("sigint")
def test_ctrl_c_ends_it_in_order(crawled: Site, tmp_path: Path) -> None:
    with QueryProcess(crawled.state, tmp_path / "log") as query:
        query.ask()
        query.process.send_signal(signal.SIGINT)
        assert query.process.wait(60) == 0
        assert query.stderr == ""


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("--site", "nowhere"), 0, "no state of a site 'nowhere'"),
        (("-k", "0"), 2, "-k must be at least 1"),
        (("-s", "FRESHCRAWL_EMBEDDER_CLASS=tests.support.nothing.There"), 2, "EMBEDDER_CLASS"),
    ],
)
def test_what_a_question_cannot_mend_is_said_at_once(
    args: tuple[str, ...], code: int, words: str, crawled: Site
) -> None:
    done = subprocess.run(
        [*command(("query", "-"), crawled.state, "hash", 0, None), *args],
        input="bell\n",
        cwd=REPO,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr


def test_a_single_question_may_not_be_mixed_with_lines(crawled: Site) -> None:
    done = scrapy("query", "-", "why", state=crawled.state)
    assert done.returncode == 2
    assert "unknown argument '-'" in done.stderr
