"""When a run that could check none of the live pages says so, and why."""

from __future__ import annotations

import pytest

from freshcrawl.core.pages import Verdict
from tests.support.runs import Bench, key_of

NAMES = ("p0", "p1", "p2")


@pytest.mark.parametrize(
    ("pages", "fail", "reasons"),
    [
        (NAMES, NAMES, ["none of 3 live pages could be checked (HTTP 500)"]),
        (NAMES, NAMES[:2], ["none of 2 live pages could be checked (HTTP 500)"]),
        (NAMES[:1], NAMES[:1], ["none of 1 live pages could be checked (HTTP 500)"]),
        (NAMES, NAMES[:1], []),  # one of many may fail by itself
        (NAMES, (), []),
    ],
)
def test_failures_of_all_that_was_asked_for_are_the_site_s(
    pages: tuple[str, ...], fail: tuple[str, ...], reasons: list[str]
) -> None:
    bench = Bench()
    bench.publish(*pages)
    bench.clock.time += 100_000.0
    run = bench.run()
    for name in fail:
        assert run.take(key_of(name))
        run.checked(key_of(name), Verdict.FAILED, reason="HTTP 500")
    run.finish("finished")
    assert run.report.incomplete_reasons == reasons


def test_one_page_that_answered_is_enough() -> None:
    bench = Bench()
    bench.publish(*NAMES)
    bench.clock.time += 100_000.0
    run = bench.run()
    for name in NAMES:
        assert run.take(key_of(name))
        verdict = Verdict.UNCHANGED if name == "p2" else Verdict.FAILED
        run.checked(key_of(name), verdict, reason="")
    run.finish("finished")
    assert run.report.complete
