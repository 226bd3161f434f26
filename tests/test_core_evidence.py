"""Pages leave the answers only on evidence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshcrawl.core import evidence
from freshcrawl.core.evidence import Finding, Policies
from freshcrawl.core.pages import LEAVING, Cause, PageRecord, Status, Verdict
from freshcrawl.core.proofs import Proof, noted

NOW = 1_800_000_000.0
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
    ("absent", "runs", "expected"),
    [
        ("keep", 1, (Status.LIVE, None)),
        ("keep", 100, (Status.LIVE, None)),
        ("hide", 1, (Status.LIVE, None)),
        ("hide", 2, (Status.LIVE, None)),
        ("hide", 3, (Status.HIDDEN, Verdict.ABSENT)),
        ("hide", 4, (Status.HIDDEN, Verdict.ABSENT)),
        ("delete", 2, (Status.LIVE, None)),
        ("delete", 3, (Status.GONE, Verdict.ABSENT)),
    ],
)
def test_an_unlisted_page_that_answers_is_kept_until_the_policy_decides(
    absent: str, runs: int, expected: tuple[Status, Verdict | None]
) -> None:
    found = evidence.absent(runs, Policies(absent=absent))
    assert (found.status, found.verdict) == expected
    assert found.missing_runs == runs
    words = "1 run" if runs == 1 else f"{runs} runs"
    kept = '; kept by absent = "keep"' if absent == "keep" and runs >= 3 else ""
    assert found.reason == f"no sitemap or page links to it any more (found by {words}){kept}"
    assert found.cause == Cause.UNLISTED


@pytest.mark.parametrize(
    ("status", "missing_runs", "absent", "expected"),
    [
        (Status.LIVE, 0, "hide", (Status.LIVE, None)),
        (Status.LIVE, 9, "hide", (Status.LIVE, None)),  # that it leaves is said at the run's end
        (Status.HIDDEN, 3, "hide", (Status.HIDDEN, Verdict.ABSENT)),
        (Status.HIDDEN, 3, "keep", (Status.LIVE, None)),  # the policy was changed
        (Status.GONE, 3, "delete", (Status.GONE, Verdict.ABSENT)),
        (Status.HIDDEN, 0, "hide", (Status.LIVE, None)),  # it had left for another reason
        (Status.GONE, 0, "delete", (Status.LIVE, None)),
        (Status.PENDING, 0, "hide", (Status.LIVE, None)),
    ],
)
def test_an_answer_of_an_unlisted_page_is_not_counted_before_the_end(
    status: Status, missing_runs: int, absent: str, expected: tuple[Status, Verdict | None]
) -> None:
    record = page(status, missing_runs=missing_runs)
    found = evidence.answered(record, False, Policies(absent=absent))
    assert (found.status, found.verdict) == expected
    assert found.missing_runs == missing_runs


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
    found = evidence.not_found(page(status), listed, Policies(), NOW)
    assert (found.status, found.verdict) == (expected, Verdict.GONE)
    assert "404" in found.reason


@pytest.mark.parametrize(
    ("before", "policy", "expected"),
    [
        ("", "hide", Status.GONE),  # a record of an earlier format
        (Cause.NOT_FOUND, "hide", Status.GONE),
        (Cause.HOME, "hide", Status.GONE),
        (Cause.NOINDEX, "hide", Status.HIDDEN),
        (Cause.ROBOTS, "hide", Status.HIDDEN),
        (Cause.NOINDEX, "delete", Status.GONE),
        (Cause.NOINDEX, "keep", Status.HIDDEN),  # what is hidden has no text to keep
    ],
)
def test_a_404_confirms_only_what_said_that_the_page_is_dead(
    before: str, policy: str, expected: Status
) -> None:
    record = page(Status.HIDDEN)
    record.cause = before
    found = evidence.not_found(record, True, Policies(not_found=policy), NOW)
    assert (found.status, found.cause) == (expected, Cause.NOT_FOUND)


@pytest.mark.parametrize("hours", [0, 11, 12, 24])
@pytest.mark.parametrize("cause", [Cause.NOT_FOUND, Cause.GONE, Cause.HOME])
def test_what_is_found_again_within_the_same_hours_confirms_nothing(cause: str, hours: int) -> None:
    record = page(Status.HIDDEN)
    record.cause = cause
    for found_at in (NOW - hours * 3_600, NOW):
        record.proofs = noted(record, Proof(cause, URL), found_at, str(found_at))
    expected = Status.GONE if hours >= 12 else Status.HIDDEN
    assert evidence.not_found(record, True, Policies(), NOW).status == expected
    home = evidence.to_home(record, URL, True, Policies(), NOW, was_published=True)
    assert home.status == expected
    record.status = Status.GONE
    assert evidence.not_found(record, True, Policies(), NOW).status == Status.GONE


def test_gone() -> None:
    expected = Finding(Status.GONE, "410", Verdict.GONE, cause=Cause.GONE)
    assert evidence.gone(page(), Policies()) == expected
    assert evidence.gone(page(), Policies(gone="hide")).status == Status.HIDDEN
    assert evidence.gone(page(Status.GONE), Policies(gone="hide")).status == Status.GONE


K = "keep"
KEEPS = Policies(K, K, K, 3, gone=K, not_found=K, moved=K, to_home=K, off_site=K, out_of_scope=K)
KEPT = {
    "gone": lambda record: evidence.gone(record, KEEPS),
    "not_found": lambda record: evidence.not_found(record, False, KEEPS, NOW),
    "robots": lambda record: evidence.disallowed(record, KEEPS),
    "moved": lambda record: evidence.redirected(record, KEY, URL, True, KEEPS),
    "off_site": lambda record: evidence.redirected(record, None, URL, True, KEEPS),
    "to_home": lambda record: evidence.to_home(record, URL, True, KEEPS, NOW, was_published=True),
}


@pytest.mark.parametrize("policy", KEPT)
@pytest.mark.parametrize("status", list(Status))
def test_a_policy_keeps_only_what_is_live(policy: str, status: Status) -> None:
    found = KEPT[policy](page(status))
    assert (found.status == Status.LIVE) == (status == Status.LIVE)
    assert found.cause
    if status == Status.LIVE:
        assert found.reason.endswith(f'; kept by {policy} = "keep"')
        assert found.verdict in LEAVING  # so that it is stale


@pytest.mark.parametrize(
    ("status", "cause", "permanent", "published", "expected"),
    [
        (Status.LIVE, "", True, True, (Status.HIDDEN, Verdict.GONE)),
        (Status.LIVE, "", False, True, (Status.LIVE, Verdict.REJECTED)),
        (Status.HIDDEN, Cause.HOME, True, True, (Status.GONE, Verdict.GONE)),
        (Status.HIDDEN, Cause.NOT_FOUND, True, True, (Status.GONE, Verdict.GONE)),
        (Status.HIDDEN, Cause.NOINDEX, True, True, (Status.HIDDEN, Verdict.GONE)),
        (Status.HIDDEN, Cause.HOME, False, True, (Status.HIDDEN, Verdict.REJECTED)),
        (Status.GONE, Cause.HOME, False, True, (Status.GONE, Verdict.REJECTED)),
        (Status.HIDDEN, Cause.NOT_FOUND, False, False, (Status.EXCLUDED, Verdict.EXCLUDED)),
        (Status.GONE, Cause.HOME, True, True, (Status.GONE, Verdict.GONE)),
        (Status.ALIAS, Cause.MOVED, True, True, (Status.HIDDEN, Verdict.GONE)),
        (Status.PENDING, "", True, False, (Status.EXCLUDED, Verdict.EXCLUDED)),
        (Status.PENDING, "", False, False, (Status.EXCLUDED, Verdict.EXCLUDED)),
    ],
)
def test_a_redirect_to_the_home_page(
    status: Status,
    cause: str,
    permanent: bool,
    published: bool,
    expected: tuple[Status, Verdict],
) -> None:
    record = page(status)
    record.cause = cause
    found = evidence.to_home(record, URL, permanent, Policies(), NOW, was_published=published)
    assert (found.status, found.verdict) == expected
    assert found.alias_of == ""


@pytest.mark.parametrize(
    ("cause", "published", "expected"),
    [
        (Cause.NOINDEX, True, Status.HIDDEN),
        (Cause.OFF_SITE, True, Status.HIDDEN),
        (Cause.NOINDEX, False, Status.EXCLUDED),
        (Cause.NO_PAGE, True, Status.EXCLUDED),
    ],
)
def test_what_was_in_the_answers_is_hidden_and_the_rest_excluded(
    cause: str, published: bool, expected: Status
) -> None:
    assert evidence.excluded("x", cause, was_published=published).status == expected


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
    found = evidence.redirected(page(status), KEY, URL, permanent, Policies())
    assert (found.status, found.verdict) == expected
    assert found.alias_of == (KEY if found.status == Status.ALIAS else "")
    assert KEY in found.reason


@pytest.mark.parametrize("permanent", [True, False])
def test_an_alias_moves_once(permanent: bool) -> None:
    again = evidence.redirected(page(Status.ALIAS, alias_of=KEY), KEY, URL, permanent, Policies())
    assert (again.status, again.verdict, again.alias_of) == (Status.ALIAS, Verdict.UNCHANGED, KEY)
    other = page(Status.ALIAS, alias_of="docs.example.com/old")
    assert evidence.redirected(other, KEY, URL, permanent, Policies()).verdict == Verdict.MOVED


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
    found = evidence.redirected(
        page(status), None, "https://login.example.net/", permanent, Policies()
    )
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
        "404": lambda: evidence.not_found(record, flag, policies, NOW),
        "410": lambda: evidence.gone(record, policies),
        "robots": lambda: evidence.disallowed(record, policies),
        "redirect": lambda: evidence.redirected(record, KEY, URL, flag, policies),
        "off": lambda: evidence.redirected(record, None, URL, flag, policies),
    }[outcome]()
    assert found.missing_runs == 0
    assert found.reason
