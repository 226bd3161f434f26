"""When two findings about a page are the same, and how long a person's discard stands."""

from __future__ import annotations

from typing import Any

import pytest

from freshcrawl.core.discards import is_same, outlasts_text, remembered, words
from freshcrawl.core.pages import Cause, PageRecord, Status
from freshcrawl.core.published import Staged
from freshcrawl.core.same_work import same_work

KEY, URL = "docs.example.com/a", "https://docs.example.com/a"


def out(status: Status, cause: str = "", **more: Any) -> Staged:
    return Staged(KEY, URL, status, "gone", 9.0, cause=cause, **more)


def text(digest: str, gist: str = "", simhash: int = 0) -> Staged:
    return Staged(KEY, URL, "live", "changed", 9.0, digest=digest, gist=gist, simhash=simhash)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (out(Status.GONE), out(Status.GONE), True),
        (out(Status.GONE), out(Status.HIDDEN), False),
        (out(Status.EXCLUDED, Cause.NOINDEX), out(Status.EXCLUDED, Cause.NOINDEX), True),
        (out(Status.EXCLUDED, Cause.NOINDEX), out(Status.EXCLUDED, Cause.ROBOTS), False),
        # a 404 that is listed hides, one that is not is final: it is one and the same 404
        (out(Status.HIDDEN, Cause.NOT_FOUND), out(Status.GONE, Cause.NOT_FOUND), True),
        (out(Status.HIDDEN, Cause.NOT_FOUND), out(Status.GONE, Cause.GONE), True),
        (out(Status.HIDDEN, Cause.UNLISTED), out(Status.GONE, Cause.GONE), False),
        (out(Status.GONE, Cause.GONE), text("a"), False),
        (text("a"), text("a"), True),
        (text("a"), text("b"), False),
        (text("a", "g"), text("b", "g"), True),
        (text("a", "g"), text("b", "h"), False),
        (text("a", simhash=0b111111), text("b", simhash=0b1000000111111), True),
        (text("a", simhash=0b1111111), text("b", simhash=1 << 60), False),
        (text("a"), text(""), False),
    ],
)
def test_same_work(one: Staged, other: Staged, *, same: bool) -> None:
    assert same_work(one, other) is same
    assert same_work(other, one) is same
    record = PageRecord(KEY, URL, discarded={**remembered(one), "at": 5.0})
    assert is_same(PageRecord.from_json(record.to_json()), other) is same
    assert not is_same(PageRecord(KEY, URL), other)


@pytest.mark.parametrize(
    ("entry", "canonical", "stands"),
    [
        (text("a"), "", False),
        (out(Status.GONE, Cause.GONE), "", False),
        (out(Status.EXCLUDED, Cause.NOINDEX), "", False),
        (out(Status.HIDDEN, Cause.UNLISTED), "", True),
        (out(Status.ALIAS, Cause.COPY, alias_of="b"), "b", True),
        (out(Status.ALIAS, Cause.COPY, alias_of="b"), "c", False),
        (out(Status.ALIAS, Cause.COPY, alias_of="b"), "", False),
    ],
)
def test_a_page_that_answers_as_published(entry: Staged, canonical: str, *, stands: bool) -> None:
    record = PageRecord(KEY, URL, discarded=remembered(entry))
    assert outlasts_text(record, canonical) is stands
    assert not outlasts_text(PageRecord(KEY, URL), canonical)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (text("a"), "kept by a person: new text discarded"),
        (out(Status.GONE, Cause.GONE, reason="410"), "kept by a person: removal discarded (410)"),
        (out(Status.HIDDEN), "kept by a person: removal discarded (hidden)"),
    ],
)
def test_words(entry: Staged, said: str) -> None:
    assert words(remembered(entry)) == said
    assert words({}) == ""
