"""Pages leave the answers only on evidence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshcrawl.core import evidence
from freshcrawl.core.evidence import Finding, Policies
from freshcrawl.core.pages import PageRecord, Status, Verdict

KEY = "docs.example.com/new"
URL = "https://docs.example.com/new"


def page(status: str = Status.LIVE, missing_runs: int = 0, alias_of: str = "") -> PageRecord:
    return PageRecord(
        "docs.example.com/a",
        "https://docs.example.com/a",
        status=status,
        missing_runs=missing_runs,
        alias_of=alias_of,
    )


@pytest.mark.parametrize("status", list(Status))
@pytest.mark.parametrize("absent", ["keep", "hide", "delete"])
def test_a_listed_page_that_answers_is_live(status: Status, absent: str) -> None:
    found = evidence.answered(page(status, missing_runs=9), True, Policies(absent=absent))
    assert found == Finding(Status.LIVE)


@pytest.mark.parametrize(
    ("absent", "before", "expected"),
    [
        ("keep", 0, (Status.LIVE, None, 1)),
        ("keep", 99, (Status.LIVE, None, 100)),
        ("hide", 0, (Status.LIVE, None, 1)),
        ("hide", 1, (Status.LIVE, None, 2)),
        ("hide", 2, (Status.HIDDEN, Verdict.ABSENT, 3)),
        ("hide", 3, (Status.HIDDEN, Verdict.ABSENT, 4)),
        ("delete", 1, (Status.LIVE, None, 2)),
        ("delete", 2, (Status.GONE, Verdict.ABSENT, 3)),
    ],
)
def test_an_unlisted_page_that_answers_is_kept_until_the_policy_decides(
    absent: str, before: int, expected: tuple[Status, Verdict | None, int]
) -> None:
    found = evidence.answered(page(missing_runs=before), False, Policies(absent=absent))
    assert (found.status, found.verdict, found.missing_runs) == expected
    runs = "1 run" if before == 0 else f"{before + 1} runs"
    assert found.reason == f"no sitemap or page links to it any more (found by {runs})"


@given(st.lists(st.booleans(), max_size=30), st.integers(1, 5))
def test_only_missing_runs_in_a_row_hide(listed: list[bool], limit: int) -> None:
    record, in_a_row = page(), 0
    for seen in listed:
        found = evidence.answered(record, seen, Policies(absent="hide", missing_runs=limit))
        record.missing_runs = found.missing_runs
        in_a_row = 0 if seen else in_a_row + 1
        assert (found.status == Status.HIDDEN) == (in_a_row >= limit)


@pytest.mark.parametrize(
    ("status", "listed", "expected"),
    [
        *((status, False, Status.GONE) for status in Status),
        (Status.PENDING, True, Status.HIDDEN),
        (Status.LIVE, True, Status.HIDDEN),
        (Status.ALIAS, True, Status.HIDDEN),
        (Status.EXCLUDED, True, Status.HIDDEN),
        (Status.HIDDEN, True, Status.GONE),
        (Status.GONE, True, Status.GONE),
    ],
)
def test_not_found(status: Status, listed: bool, expected: Status) -> None:
    found = evidence.not_found(page(status), listed)
    assert (found.status, found.verdict) == (expected, Verdict.GONE)
    assert "404" in found.reason


def test_gone() -> None:
    assert evidence.gone() == Finding(Status.GONE, "410", Verdict.GONE)


@pytest.mark.parametrize("policy", ["keep", "hide"])
@pytest.mark.parametrize("status", list(Status))
def test_disallowed_keeps_only_what_is_live(status: Status, policy: str) -> None:
    found = evidence.disallowed(page(status), Policies(robots=policy))
    kept = status == Status.LIVE and policy == "keep"
    assert found.status == (Status.LIVE if kept else Status.EXCLUDED)
    assert found.verdict == Verdict.EXCLUDED
    assert "robots.txt" in found.reason


@pytest.mark.parametrize(
    ("status", "permanent", "expected"),
    [
        (Status.LIVE, True, (Status.ALIAS, Verdict.MOVED)),
        (Status.PENDING, True, (Status.ALIAS, Verdict.MOVED)),
        (Status.HIDDEN, True, (Status.ALIAS, Verdict.MOVED)),
        (Status.GONE, True, (Status.ALIAS, Verdict.MOVED)),
        (Status.LIVE, False, (Status.LIVE, Verdict.REJECTED)),
        (Status.PENDING, False, (Status.ALIAS, Verdict.MOVED)),
        (Status.GONE, False, (Status.ALIAS, Verdict.MOVED)),
    ],
)
def test_redirected(status: Status, permanent: bool, expected: tuple[Status, Verdict]) -> None:
    found = evidence.redirected(page(status), KEY, URL, permanent)
    assert (found.status, found.verdict) == expected
    assert found.alias_of == (KEY if found.status == Status.ALIAS else "")
    assert KEY in found.reason


@pytest.mark.parametrize("permanent", [True, False])
def test_an_alias_moves_once(permanent: bool) -> None:
    again = evidence.redirected(page(Status.ALIAS, alias_of=KEY), KEY, URL, permanent)
    assert (again.status, again.verdict, again.alias_of) == (Status.ALIAS, Verdict.UNCHANGED, KEY)
    other = page(Status.ALIAS, alias_of="docs.example.com/old")
    assert evidence.redirected(other, KEY, URL, permanent).verdict == Verdict.MOVED


def test_a_copy_is_an_alias_that_has_not_moved_again() -> None:
    found = evidence.copy_of(KEY)
    assert (found.status, found.verdict, found.alias_of) == (Status.ALIAS, Verdict.UNCHANGED, KEY)


@pytest.mark.parametrize(
    ("status", "permanent", "expected"),
    [
        (Status.LIVE, True, (Status.EXCLUDED, Verdict.EXCLUDED)),
        (Status.LIVE, False, (Status.LIVE, Verdict.REJECTED)),
        (Status.PENDING, False, (Status.EXCLUDED, Verdict.EXCLUDED)),
    ],
)
def test_redirected_off_the_site(
    status: Status, permanent: bool, expected: tuple[Status, Verdict]
) -> None:
    found = evidence.redirected(page(status), None, "https://login.example.net/", permanent)
    assert (found.status, found.verdict) == expected
    assert "https://login.example.net/" in found.reason
    assert found.alias_of == ""


@given(
    st.sampled_from(["404", "410", "robots", "redirect", "off"]),
    st.sampled_from(Status),
    st.booleans(),
)
def test_only_a_page_that_answers_counts_missing_runs(
    outcome: str, status: Status, flag: bool
) -> None:
    record, policies = page(status, missing_runs=2), Policies()
    found = {
        "404": lambda: evidence.not_found(record, flag),
        "410": evidence.gone,
        "robots": lambda: evidence.disallowed(record, policies),
        "redirect": lambda: evidence.redirected(record, KEY, URL, flag),
        "off": lambda: evidence.redirected(record, None, URL, flag),
    }[outcome]()
    assert found.missing_runs == 0
    assert found.reason
