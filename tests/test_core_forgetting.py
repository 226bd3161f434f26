"""Which argument is a URL and which a pattern, and what a mark keeps out."""

from __future__ import annotations

import pytest

from freshcrawl.core.forgetting import Forgotten, Mark, compiled, is_url, record_of, undo_command
from freshcrawl.core.pages import Status
from freshcrawl.forgotten import names_pattern

DAY = 1_800_000_000.0
A = "docs.test/a"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://docs.test/a", True),
        ("http://docs.test/", True),
        ("HTTPS://docs.test/a", True),
        ("^https://docs.test/a", False),
        ("docs.test/a", False),
        ("/a", False),
        ("", False),
        ("ftp://docs.test/a", False),
    ],
)
def test_a_url_begins_with_its_scheme(text: str, expected: bool) -> None:
    assert is_url(text) is expected


@pytest.mark.parametrize(
    ("pattern", "url", "expected"),
    [
        ("/old/", "https://docs.test/old/a", True),
        ("/old/", "https://docs.test/older/a", False),
        ("^https://docs.test/old/", "https://docs.test/old/a", True),
        ("^https://docs.test/old/", "https://docs.test/new/https://docs.test/old/", False),
        (r"\.pdf$", "https://docs.test/a.pdf", True),
        (r"\.pdf$", "https://docs.test/a.pdf?x=1", False),
        ("old|new", "https://docs.test/new", True),
        ("OLD", "https://docs.test/old", False),
        ("(?i)OLD", "https://docs.test/old", True),
        ("/old/*", "https://docs.test/old", True),  # no shell pattern: any number of slashes
    ],
)
def test_a_pattern_is_searched_for_in_urls(pattern: str, url: str, expected: bool) -> None:
    assert bool(compiled(pattern).search(url)) is expected
    marks = Forgotten(patterns={pattern: DAY})
    assert marks.of("docs.test/x", url) == (Mark(DAY, pattern) if expected else None)


@pytest.mark.parametrize("pattern", ["", " ", "(", "[a", "*", "a{2,1}"])
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"empty pattern|nor a regular expression"):
        compiled(pattern)


def test_a_mark_by_key_has_the_first_word() -> None:
    marks = Forgotten({A: Mark(DAY)}, {"/a": DAY + 1})
    assert marks.of(A, "https://docs.test/a") == Mark(DAY)
    assert marks.of("docs.test/ab", "https://docs.test/ab") == Mark(DAY + 1, "/a")
    assert marks.of("docs.test/b", "https://docs.test/b") is None
    assert marks.of("docs.test/ab") is None


def test_marks_are_joined_and_taken_away() -> None:
    ours = Forgotten({A: Mark(1.0)}, {"/x": 1.0}, 3)
    other = Forgotten({A: Mark(2.0), "docs.test/b": Mark(2.0)}, {"/y": 2.0}, 2)
    both = ours.joined(other)
    assert both == Forgotten({A: Mark(1.0), "docs.test/b": Mark(2.0)}, {"/x": 1.0, "/y": 2.0}, 3)
    assert both.without({"docs.test/b"}, {"/y"}) == ours
    # A corpus that is begun anew numbers its generations anew.
    assert Forgotten.from_json(both.to_json()) == Forgotten(both.keys, both.patterns)
    assert not Forgotten.from_json({})
    assert Forgotten(patterns={"/x": 1.0})


def test_all_that_is_kept_is_key_and_time() -> None:
    record = record_of(A, Mark(DAY, "/a$"), "http")
    reason = "forgotten on 2027-01-15 by scrapy forget (pattern /a$)"
    assert record.to_json() == {
        "key": A, "url": "http://docs.test/a", "status": Status.FORGOTTEN, "reason": reason,
        "first_seen": DAY, "left_out": True,
    }  # fmt: skip
    assert undo_command("docs", "/a$") == "scrapy forget --undo '/a$' --site docs"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://docs.test/a", "()"),
        ("sitemap of https://docs.test/a: HTTP 500", "sitemap of (): HTTP 500"),
        ("https://docs.test/a, https://docs.test/b.", "(), https://docs.test/b."),
        ("see https://docs.test/a.", "see ()."),
        ("docs.test/a was read", "() was read"),
        *(
            (text, text)
            for text in (
                "https://docs.test/ab",
                "https://docs.test/a/b",
                "https://docs.test/a.html",
                "https://docs.test/a?x=1",
                "https://www.docs.test/a",
                "https://docs.test/x/docs.test/a",
            )
        ),
    ],
)
def test_only_the_whole_url_is_taken_out_of_reports(text: str, expected: str) -> None:
    pattern = names_pattern({A, "https://docs.test/a"})
    assert pattern.sub("()", text) == expected
