"""What a record keeps of why its page left, stays by policy only, or was away; and its words."""

from __future__ import annotations

from typing import Any

import pytest

from freshcrawl.core.pages import Cause, PageRecord, Status
from freshcrawl.core.proofs import KEPT, MAX_SHOWN, Proof, all_of, is_confirmed, left, noted, over
from freshcrawl.proof_words import proof_lines, proofs_of

NOW = 1_700_000_000.0
KEY, URL = "docs.test/guide/c", "http://docs.test/guide/c"
DAY = 86_400.0


def note(record: PageRecord, run: int, **given: Any) -> None:
    given = {"cause": Cause.NOT_FOUND, "url": URL, "http_status": 404, "status": "hidden", **given}
    record.proofs = noted(record, Proof(**given), NOW + run * DAY, f"run{run}")


def test_what_is_found_again_is_one_proof() -> None:
    record = PageRecord(KEY, URL)
    for run in (1, 1, 2):  # twice by one run
        note(record, run, status="hidden" if run == 1 else "gone")
    [proof] = all_of(record)
    assert (proof.first, proof.last, proof.runs) == (NOW + DAY, NOW + 2 * DAY, 2)
    assert (proof.run_id, proof.status) == ("run2", "gone")


def test_what_was_over_begins_anew() -> None:
    record = PageRecord(KEY, URL)
    note(record, 1)
    record.proofs = over(record, NOW + 2 * DAY)["proofs"]
    assert over(record, NOW + 3 * DAY) == {}
    note(record, 4)
    assert [proof.over for proof in all_of(record)] == [NOW + 2 * DAY, 0.0]


def test_an_answer_says_nothing_against_being_unlisted() -> None:
    record = PageRecord(KEY, URL)
    note(record, 1, cause=Cause.UNLISTED, http_status=0)
    assert over(record, NOW + 2 * DAY) == {}
    assert over(record, NOW + 2 * DAY, listed=True)


def test_the_last_different_proofs_are_kept_and_what_is_long_is_cut() -> None:
    record = PageRecord(KEY, URL)
    for run in range(9):
        note(record, run, cause=Cause.MOVED, http_status=301, target=f"{run}" + "x" * 9_000)
    assert [proof.target[0] for proof in all_of(record)] == list("45678")
    assert len(record.proofs) == KEPT
    assert {len(proof.target) for proof in all_of(record)} == {MAX_SHOWN}
    note(record, 9, cause=Cause.MOVED, http_status=301, target="8" + "x" * 9_000)
    assert all_of(record)[-1].runs == 2


def test_a_page_leaves_by_the_proof_of_its_cause() -> None:
    record = PageRecord(KEY, URL)
    note(record, 1)
    note(record, 2, cause=Cause.NOINDEX, http_status=200)
    assert left(record, Cause.ROBOTS, NOW) == {}
    record.proofs = left(record, Cause.NOT_FOUND, NOW + 3 * DAY)["proofs"]
    assert [proof.left for proof in all_of(record)] == [NOW + 3 * DAY, 0.0]
    assert left(record, Cause.NOT_FOUND, NOW + 4 * DAY) == {}


def test_a_record_of_the_earlier_format_can_be_read_and_gone_on_with() -> None:
    stored = {"key": KEY, "url": URL, "status": "hidden", "reason": "404 although ..."}
    record = PageRecord.from_json(stored)
    assert (record.proofs, record.cause) == ([], "")
    assert record.to_json() == stored
    assert is_confirmed(record, {Cause.NOT_FOUND}, NOW)
    assert over(record, NOW) == {}
    note(record, 1)
    assert PageRecord.from_json(record.to_json()) == record


def test_a_proof_of_a_later_format_can_be_read() -> None:
    record = PageRecord(KEY, URL, proofs=[{"cause": "gone", "later": 1}, {}])
    assert [proof.cause for proof in all_of(record)] == ["gone", ""]
    assert proofs_of(record)[1]["first_found"] is None


@pytest.mark.parametrize(
    ("given", "status", "words"),
    [
        (
            {},
            "hidden",
            "hidden because it was not found (http://docs.test/guide/c: HTTP 404); found 10 d ago "
            "(2023-11-15T22:13:20Z) (run1)",
        ),
        (
            {"left": NOW + DAY},
            "hidden",
            "hidden since 2023-11-15T22:13:20Z because it was not found",
        ),
        ({}, "live", "is to leave the answers because it was not found"),
        (
            {"left": NOW + DAY, "over": NOW + 3 * DAY},
            "live",
            "was hidden from 2023-11-15T22:13:20Z to 2023-11-17T22:13:20Z because it was not found",
        ),
        ({"over": NOW + 3 * DAY}, "live", "was to leave the answers from 2023-11-15T22:13:20Z to"),
        (
            {"status": "gone", "left": NOW + DAY, "over": NOW + 3 * DAY},
            "live",
            "was gone from 2023-11-15T22:13:20Z to 2023-11-17T22:13:20Z because",
        ),
        (
            {"status": "live", "cause": Cause.ROBOTS, "http_status": 0, "said": "robots.txt"},
            "live",
            "kept in the answers although robots.txt disallowed it (http://docs.test/guide/c: "
            "robots.txt)",
        ),
        (
            {"cause": Cause.HOME, "http_status": 301, "target": "http://docs.test/"},
            "hidden",
            "(http://docs.test/guide/c: HTTP 301 to http://docs.test/)",
        ),
        (
            {"cause": Cause.NOINDEX, "http_status": 200, "said": "X-Robots-Tag: noindex"},
            "hidden",
            "it asked not to be indexed (http://docs.test/guide/c: HTTP 200, X-Robots-Tag: noind",
        ),
        ({"runs": 3, "last": NOW + 4 * DAY}, "hidden", "(2023-11-18T22:13:20Z), by 3 runs (run1)"),
    ],
)
def test_words(given: dict[str, Any], status: str, words: str) -> None:
    record = PageRecord(KEY, URL, status=status)
    note(record, 1)
    record.proofs[0] |= {k: v for k, v in given.items() if k != "runs"}
    record.proofs[0]["runs"] = given.get("runs", 1)
    page = {"status": status, "proofs": proofs_of(record)}
    [line] = proof_lines(page, NOW + 11 * DAY)
    assert words in line
    assert "None" not in line


@pytest.mark.parametrize("cause", list(Cause))
@pytest.mark.parametrize("status", list(Status))
def test_each_cause_and_status_has_words(cause: Cause, status: Status) -> None:
    record = PageRecord(KEY, URL, status=status)
    note(record, 1, cause=cause, status=status)
    [line] = proof_lines({"status": status, "proofs": proofs_of(record)}, NOW)
    link = "although" if status == Status.LIVE else "because"
    assert f" {link} " in line
    assert f" {link} {cause} " not in line
