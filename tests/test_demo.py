"""The demonstration, end to end, with the embedder that needs no model."""

from __future__ import annotations

import re
import socket
import subprocess
import sys

import pytest

from demo.__main__ import check_answer
from demo.commands import DemoError
from demo.show import changed_pages, smallest_change
from tests.support.project import REPO, environment

OLD = "1. A  (0.9)\n   http://a.test/a#x\n   checked 2026-01-01T00:00:00.000Z\n   | old text\n"
NEW = OLD.replace("old text", "new text")


def demo(*args: str) -> subprocess.CompletedProcess[str]:
    """Run ``python -m demo`` to its end, as ``make demo`` does."""
    return subprocess.run(
        [sys.executable, "-m", "demo", *args],
        cwd=REPO,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.slow
def test_two_releases_from_the_first_crawl_to_the_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    done = demo("--embedder", "hash", "--port", str(port))
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Traceback" not in done.stderr
    url = f"http://127.0.0.1:{port}/"
    cells = {
        line.split("  ")[0]: re.split(r"\s{2,}", line)[-3:] for line in done.stdout.splitlines()
    }
    assert cells["passages embedded"] == ["490", "0", "5"]
    assert cells["pages with another text"] == ["0", "0", "2"]
    for words in (
        f"$ scrapy crawl docs -a url={url} -a full=1",
        f"{url}changelog.html\n{url}usage.html\n",
        "  --- before\n  +++ after\n",
        "no change: 100 % of the page downloads",
        "new release: 0 % of the page downloads",
        "99 % of the embeddings (5 of 493 passages were embedded)",
    ):
        assert words in done.stdout
    assert done.stdout.count("$ scrapy query") == 2
    # What the three runs say of themselves.
    assert len(re.findall(r": complete, [\d.]+ s, generation [112]\n", done.stderr)) == 3
    assert "saved against a full recrawl: 13 of 13 page downloads" in done.stderr


def test_port_in_use() -> None:
    """The demo is the only part that listens; it does nothing before it has its port."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = demo("--port", str(port))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"demo: port {port} of 127.0.0.1 cannot be used (Address already in use): name another "
        "one, such as make demo PORT=8001, or none to take any that is free\n"
    )


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--port", "70000"], "'70000' is no port: give a number up to 65535"),
        (["--port=-1"], "'-1' is no port: give a number up to 65535"),
        (["--port", "http"], "'http' is no port: give a number up to 65535"),
        (["--port"], "expected one argument"),
    ],
)
def test_port_that_is_none(args: list[str], words: str) -> None:
    done = demo(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == f"make demo: error: argument --port: {words}"


def test_answer_must_be_of_the_new_release() -> None:
    check_answer(OLD, NEW, ["http://a.test/a"])
    later = OLD.replace("2026-01-01", "2026-01-02")
    with pytest.raises(DemoError, match="still the old one"):
        check_answer(OLD, later, ["http://a.test/a"])
    with pytest.raises(DemoError, match="not from a page that changed"):
        check_answer(OLD, NEW, ["http://a.test/b"])


def test_the_smallest_change_is_shown() -> None:
    before = {"same": "x", "grown": "short", "edited": "one word", "gone": "text of some length"}
    after = {"same": "x", "grown": "short and longer", "edited": "two word", "new": "a page"}
    urls = list(changed_pages(before, after))
    assert urls == ["edited", "gone", "grown", "new"]
    assert smallest_change(urls, before, after) == "edited"
