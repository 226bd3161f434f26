"""A run's end in plain words."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

import pytest

from freshcrawl.core.report import RunReport
from freshcrawl.summary import run_summary


def report(**values: Any) -> RunReport:
    return RunReport("r", 100.0, 161.25, **values)


def lines_of(**values: Any) -> list[str]:
    return run_summary(report(**values).as_contract())


def text_of(**values: Any) -> str:
    return "\n".join(lines_of(**values))


def test_a_plain_run_is_two_lines() -> None:
    lines = lines_of(discovered=3)
    assert len(lines) == 2
    assert lines[0].startswith("3 pages listed, 0 not due, 0 fetched")
    assert lines[1].endswith("generation 0; 61.2 s")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("discovered", "7 pages listed"),
        ("not_due", "7 not due"),
        ("fetched", "7 fetched"),
        ("not_modified", "7 answered 304"),
        ("new", "7 new"),
        ("changed", "7 changed"),
        ("links_only", "7 with new links only"),
        ("unchanged", "7 unchanged"),
        ("excluded", "7 not documents"),
        ("moved", "7 moved"),
        ("gone", "7 gone"),
        ("hidden", "7 gone"),
        ("dead", "7 dead links"),
        ("rejected", "7 rejected"),
        ("failed", "7 failed"),
        ("chunks_embedded", "7 chunks embedded"),
        ("chunks_reused", "7 reused"),
        ("chunks_removed", "7 removed"),
        ("bytes_downloaded", "7 bytes downloaded"),
        ("generation", "generation 7"),
    ],
)
def test_every_counter_is_named(name: str, words: str) -> None:
    assert words in text_of(**{name: 7})
    assert words not in text_of()


def test_gone_and_hidden_are_one_number() -> None:
    assert "5 gone" in text_of(gone=2, hidden=3)


def test_no_number_is_negative() -> None:
    counters = [f.name for f in fields(RunReport) if f.type == "int" and f.default is not MISSING]
    for name in counters:
        assert "-" not in text_of(**{name: 1})


def test_what_is_held_what_is_incomplete_and_what_failed() -> None:
    lines = lines_of(
        held=9,
        held_reasons=["9 of 20 live pages in removals"],
        incomplete_reasons=["sitemap a: HTTP 500", "robots.txt unavailable (HTTP 503)"],
        error="no space left on device",
    )
    assert lines[2:] == [
        "9 pages held: 9 of 20 live pages in removals; later runs that find the same release them "
        "(docs/troubleshooting.md, held)",
        "incomplete: sitemap a: HTTP 500; robots.txt unavailable (HTTP 503)",
        "failed: no space left on device",
    ]
