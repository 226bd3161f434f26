"""Texts that say the same, masked words, and texts that are suddenly short."""

from __future__ import annotations

from typing import Any

import pytest

from freshcrawl.core.simhash import simhash
from freshcrawl.core.trust import (
    PATIENCE,
    Gist,
    Short,
    essence_digest,
    gist_digest,
    masked,
    shrank,
    unknown_name,
)

UNKNOWN = "https://docs.example.com/guide/3f9c2b7a1d4e6f80"
PAGE = "https://docs.example.com/guide/install-linux.html"
ERROR = "# Page not found\n\nThe page you asked for was not found. Go to the start page."
MENU = "Alpha, beta and gamma, then delta or epsilon; zeta with eta, theta for iota, kappa at last."
REAL = "Unpack the archive, read the file README in it, then run make and make install as root."


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hello, World!", ["hello", "world"]),
        ("at 12:31 on 2026-11-30", ["at", "0", "on", "0"]),
        ("Request 8f3a-b2c1 failed", ["request", "0", "failed"]),
        ("id 6ba7b810-9dad-11d1-80b4-00c04fd430c8, 17 times", ["id", "0", "times"]),
        ("No page /guide/install-linux.html here", ["no", "page", "0", "here"]),
        ("no install-linux, no installers", ["no", "0", "no", "installers"]),
        ("https://docs.example.com/guide/install-linux.html", ["0"]),
        ("1 2 3", ["0"]),
        ("日本語 3 です", ["日", "本", "語", "0", "で", "す"]),
        ("", []),
    ],
)
def test_masked_words(text: str, words: list[str]) -> None:
    assert masked(text, PAGE) == words


@pytest.mark.parametrize(
    ("title", "text", "known_title", "known"),
    [
        ("Page not found", ERROR, "Page not found", ERROR),
        (
            "Page not found", f"{ERROR} Did you mean: Unpacking, Upgrading, Uninstalling?",
            "Page not found", ERROR,
        ),
        (
            "Not found", "Nothing at /guide/install-linux.html, asked for at 12:31.",
            "Not found", "Nothing at /guide/3f9c2b7a1d4e6f80, asked for at 12:30.",
        ),
        ("install-linux", f"install-linux {ERROR}", "3f9c2b7a1d4e6f80", ERROR),
        ("Install linux", f"{ERROR} {MENU}", "Not there", f"{ERROR} {MENU}"),
        ("Welcome", f"Welcome to the docs. {MENU}", "Welcome", f"Welcome to the docs. {MENU}"),
        ("Not found", "Not found", "Not found", "Not found"),
        ("Not here", "There is no page b. Try the menu.", "Not here",
         "There is no page 3f9c2b7a1d4e6f80. Try the menu."),
    ],
    ids=[
        "equal", "suggestions", "address and time", "name as title", "other title", "home", "bare",
        "a name too short to be masked",
    ],
)  # fmt: skip
def test_pages_that_say_what_unknown_ones_do(
    title: str, text: str, known_title: str, known: str
) -> None:
    assert Gist.of(title, text, PAGE).says(Gist.of(known_title, known, UNKNOWN))


@pytest.mark.parametrize(
    ("title", "text", "known_title", "known"),
    [
        ("Install", REAL, "Page not found", ERROR),
        ("Install", f"{MENU} {REAL}", "Page not found", f"{MENU} {ERROR}"),
        ("Docs", f"{MENU} {REAL * 3}", "Docs", f"{MENU} {ERROR}"),
        ("Not found pages", "Put a file into the folder.", "Page not found", ERROR),
        ("Page not found", f"{REAL} {REAL}", "Page not found", ERROR),
        ("1.4", "Nothing of note in this release, see below.", "404", ""),
        ("1.4", "Nothing of note in this release, see below.", "404", "404"),
        ("Moved", "Moved to Install.", "", ""),
        ("Error codes", f"{ERROR} {REAL}", "Page not found", ERROR),
    ],
    ids=[
        "other text", "below one menu", "one title for all", "about it", "only the title",
        "only numbers", "a number as title", "nothing", "quotes it",
    ],
)  # fmt: skip
def test_pages_that_do_not(title: str, text: str, known_title: str, known: str) -> None:
    assert not Gist.of(title, text, PAGE).says(Gist.of(known_title, known, UNKNOWN))


def test_digests_of_texts_that_differ_by_themselves_only() -> None:
    one = gist_digest(
        "Closed", "Back soon. Request 8f3a at 08:26:01 for /one", "https://x.example/one"
    )
    two = gist_digest(
        "Closed", "Back soon. Request 91bc at 08:27:44 for /two", "https://x.example/two"
    )
    assert one == two != gist_digest("Closed", "Back now. Request 1", "")
    assert gist_digest("Title of", "text", "") != gist_digest("Title", "of text", "")
    assert gist_digest("1", "2026", "") == ""


@pytest.mark.parametrize(
    ("paths", "name"),
    [
        ([], "x"),
        (["", "/"], "x"),
        (["/a.html", "/b/c.html", "/d"], "x.html"),
        (["/a/", "/b/", "/c"], "x/"),
        (["/a", "/b", "/c.php"], "x"),
        (["/2.0", "/2.1"], "x"),
        (["/a.HTML"], "x.html"),
    ],
)
def test_the_name_that_no_page_has(paths: list[str], name: str) -> None:
    assert unknown_name([f"https://x.example{path}" for path in paths], "x") == name


@pytest.mark.parametrize(
    ("before", "after", "short"),
    [(1_240, 60, True), (100, 29, True), (100, 30, False), (99, 1, False), (100, 0, True)],
)
def test_sudden_shrink(before: int, after: int, short: bool) -> None:
    assert shrank(before, after) is short


DAY = 24.0
TEXTS = ["only this is left of the page", "something else entirely stands here now", "and a third"]


def checks(*found: tuple[float, str]) -> list[bool]:
    """Return whether each of the checks, at an hour, believed the text that it found."""
    kept: dict[str, Any] = {}
    believed = []
    for at, text in found:
        kept = Short(text, simhash(text), at).doubt(kept, 12.0)
        believed.append(bool(kept.get("believed")))
    return believed


def test_a_short_text_is_believed_when_a_later_check_finds_it_again() -> None:
    text = TEXTS[0]
    assert checks((0, text)) == [False]
    assert checks((0, text), (1, text), (11.9, text)) == [False, False, False], "too soon"
    assert checks((0, text), (1, text), (12, text)) == [False, False, True]
    assert checks((0, text), (DAY, text), (DAY + 1, TEXTS[1])) == [False, True, True]


def test_a_short_text_that_is_never_the_same_is_believed_at_last() -> None:
    found = [(day * DAY, TEXTS[day]) for day in range(PATIENCE)]
    assert checks(*found) == [*[False] * (PATIENCE - 1), True]
    assert checks(*((at / 100, text) for at, text in found)) == [False] * PATIENCE, "too soon"


def test_nearly_the_same_text_is_the_same() -> None:
    words = "the server is being moved to another room and the pages on queues are not there now "
    assert checks((0, words * 3 + "at noon"), (DAY, words * 3 + "at one")) == [False, True]


ESSENCE = "You asked for {url} on Monday, 30 November 2026. To read {title}, choose a plan first."


def essence(title: str, name: str, text: str = ESSENCE) -> str:
    url = f"https://docs.example.com/{name}"
    return essence_digest([f"{title} - Project", "Plans"], text.format(url=url, title=title), url)


def test_essence_is_the_same_for_a_wall_that_names_its_page_and_the_day() -> None:
    later = ESSENCE.replace("Monday, 30 November", "Wed, 2 December")
    assert essence("Install guide", "install") == essence("Usage", "usage.html", later) != ""


def test_essence_is_another_for_another_text() -> None:
    assert essence("Usage", "usage") != essence(
        "Usage", "usage", ESSENCE.replace("plan", "bicycle")
    )


def test_essence_of_next_to_nothing_is_empty() -> None:
    assert essence("Usage", "usage", "{title} 3") == ""
