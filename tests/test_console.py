"""What a person sees of a crawl, in a terminal and elsewhere."""

from __future__ import annotations

import fcntl
import io
import os
import re
import struct
import subprocess
import termios
import threading
from typing import TYPE_CHECKING

import pytest

from freshcrawl.console import StatusLine
from freshcrawl.progress import Snapshot
from freshcrawl.watch import Watch
from tests.support.origin import Answer, Origin, page
from tests.support.project import REPO, command, environment, scrapy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

COLUMNS = 48
STAMP = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d "
SLOW = {
    "FRESHCRAWL_EMBEDDER_CLASS": "tests.support.embedder.SlowEmbedder",
    "FRESHCRAWL_EMBED_BATCH": 4,
}


@pytest.fixture
def origin() -> Iterator[Origin]:
    """Serve twenty pages; the last of them takes a second."""
    with Origin() as started:
        paths = [f"/p{number}" for number in range(20)]
        for path in paths:
            started[path] = page(path, f"The text of {path}.")
        started["/p19"] = slow(Answer(page("/p19", "The text of /p19.")))
        started.serve_sitemap(*paths)
        yield started


def slow(answer: Answer) -> Callable[[], Answer]:
    def late() -> Answer:
        threading.Event().wait(1.0)
        return answer

    return late


# -- the line ----------------------------------------------------------------


def test_line_is_cut_redrawn_and_taken_off() -> None:
    out = io.StringIO()
    line = StatusLine(out)
    line.draw("a" * 200)
    line.draw("short")
    line.write("a message\n")
    line.write("amid a mes")
    line.draw("not now")
    line.write("sage\n")
    line.draw("again")
    line.clear()
    line.clear()
    assert out.getvalue() == (
        "\r" + "a" * 79 + "\rshort" + " " * 74 + "\r     \r"
        "a message\namid a message\n\ragain\r     \r"
    )


def test_several_sites_are_summed_up_in_one_line() -> None:
    out = io.StringIO()
    drawn = threading.Event()

    def read() -> dict[str, Snapshot]:
        if out.getvalue():
            drawn.set()
        return {"one": Snapshot(1, 2), "other": Snapshot(3, 1_000, 5, 8)}

    with Watch(read, 0.0, StatusLine(out)):
        assert drawn.wait(10)
    assert out.getvalue().startswith("\r2 sites: 4 of 1,002 pages; embedding 5 of 8 passages")
    assert out.getvalue().endswith(" \r")


# -- in a terminal -----------------------------------------------------------


def in_terminal(*args: str, state: Path) -> str:
    """Run a command in a terminal of its own; return all that it writes there."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    process = subprocess.Popen(
        command(args, state, "hash", 0, SLOW),
        cwd=REPO,
        env={**environment(), "TERM": "xterm"},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    written = b""
    try:
        while piece := os.read(ours, 65_536):
            written += piece
    except OSError:  # how a terminal says that the other side has closed it
        pass
    finally:
        os.close(ours)
    assert process.wait(20) == 0, written
    return written.decode()


def screen(written: str) -> list[str]:
    """Return the lines of a terminal that is wide enough, as they stand at the end."""
    lines = [""]
    for part in re.split(r"([\r\n])", written):
        if part == "\n":
            lines.append("")
            column = 0
        elif part == "\r":
            column = 0
        elif part:
            lines[-1] = lines[-1][:column] + part + lines[-1][column + len(part) :]
            column += len(part)
    return [line.rstrip() for line in lines]


def test_terminal_shows_one_line_that_redraws_and_then_what_was_done(
    origin: Origin, state: Path
) -> None:
    written = in_terminal("crawl", "docs", "-a", f"url={origin.url}", state=state)
    drawn = re.findall(r"\r([^\r\n]+)(?=\r(?!\n))", written)
    assert any(re.search(r"\d+ of 20 pages", text) for text in drawn)
    assert any(re.search(r"embedding \d+ of 20", text) for text in drawn)
    assert max(map(len, drawn)) < COLUMNS
    shown = screen(written)
    name = f"127.0.0.1-{origin.port}"
    assert re.fullmatch(rf"{name}: complete, [\d.]+ s, generation 1", shown[0])
    assert shown[1].startswith("  20 pages listed")
    assert all(line.startswith("  ") for line in shown[1:-1])
    assert shown[-1] == ""
    assert not re.search(STAMP, written)


@pytest.mark.parametrize("option", [("-L", "INFO"), ("--nolog",)])
def test_terminal_shows_no_line_where_another_log_was_chosen(
    option: tuple[str, ...], origin: Origin, state: Path
) -> None:
    written = in_terminal("crawl", "docs", "-a", f"url={origin.url}", *option, state=state)
    assert not re.search(r"\r(?!\n)", written)
    assert ("Spider opened" in written) == (option[0] == "-L")


def test_terminal_shows_how_far_a_reindex_is(origin: Origin, state: Path) -> None:
    done = scrapy("crawl", "docs", "-a", f"url={origin.url}", state=state)
    assert done.returncode == 0, done.stderr
    other = ("-s", "FRESHCRAWL_EMBED_MODEL=other")
    written = in_terminal("reindex", *other, state=state)
    drawn = re.findall(r"\r([^\r\n]+)(?=\r(?!\n))", written)
    assert any(re.search(r"0 of 20 pages; embedding \d+", text) for text in drawn)
    first, *rest = screen(written)
    assert re.fullmatch(r".*: 20 pages, 20 passages; 20 embedded, 0 reused; generation 2 .*", first)
    assert rest == [""]
    silent = in_terminal("reindex", "--nolog", state=state)
    assert not re.search(r"\r(?!\n)", silent)


# -- elsewhere ---------------------------------------------------------------


def crawl(origin: Origin, state: Path, *args: str, secs: float = 0.1) -> str:
    settings = {**SLOW, "FRESHCRAWL_PROGRESS_SECS": secs}
    done = scrapy("crawl", "docs", "-a", f"url={origin.url}", *args, state=state, settings=settings)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr[-2000:]
    return done.stderr


def test_newcomer_sees_progress_and_the_end_and_nothing_of_scrapy(
    origin: Origin, state: Path
) -> None:
    lines = crawl(origin, state).splitlines()
    name = f"127.0.0.1-{origin.port}"
    records = [line for line in lines if not line.startswith("  ")]
    assert all(re.match(f"{STAMP}{name}: ", record) for record in records)
    assert len(set(lines)) == len(lines)
    assert any("of 20 pages" in record for record in records)
    assert any("embedding 4 of 20 passages" in record for record in records)
    # One record of several lines.
    last = lines.index(records[-1])
    assert ": complete, " in records[-1]
    assert "20 pages listed" in lines[last + 1]


@pytest.mark.parametrize("secs", [0.0, 30.0])
def test_short_run_says_nothing_but_its_end(secs: float, origin: Origin, state: Path) -> None:
    [first, *others] = crawl(origin, state, secs=secs).splitlines()
    assert ": complete, " in first
    assert "20 pages listed" in others[0]
    assert all(line.startswith("  ") for line in others)


def test_warnings_keep_the_format_of_scrapy(state: Path) -> None:
    refused = scrapy("crawl", "docs", "-a", "url=http://127.0.0.1:9/", state=state)
    assert refused.returncode == 4
    assert re.search(rf"(?m)^{STAMP}\[freshcrawl\.robots\] WARNING: ", refused.stderr)


def test_chosen_level_brings_back_the_lines_of_scrapy(origin: Origin, state: Path) -> None:
    lines = crawl(origin, state, "-L", "INFO").splitlines()
    assert sum("Spider opened" in line for line in lines) == 1
    ours = [line for line in lines if ": complete, " in line]
    assert len(ours) == 1
    assert re.match(rf"{STAMP}\[freshcrawl\.extensions\] INFO: ", ours[0])


def test_log_file_has_everything(origin: Origin, state: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert crawl(origin, state, "--logfile", str(log)) == ""
    text = log.read_text()
    assert "[scrapy.core.engine] INFO: Spider opened" in text
    assert "[freshcrawl.watch] INFO: " in text
    assert text.count("pages listed") == 1


def test_help_of_crawl_lists_the_arguments_of_docs(state: Path) -> None:
    done = scrapy("crawl", "-h", state=state)
    assert done.returncode == 0
    for name in ("url", "site", "full", "dry_run"):
        assert re.search(rf"(?m)^  -a {name}=\w+  +\w", done.stdout)
