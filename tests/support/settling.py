"""The end of an example: the site holds still, runs go on until nothing is left to do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from freshcrawl.approving import Choice, approve
from freshcrawl.clock import make_clock
from freshcrawl.core.pages import Status
from freshcrawl.state import make_embedder, open_for_writing
from tests.support import convergence_checks as checks
from tests.support.convergence_views import view_of
from tests.support.in_process import NAME
from tests.support.site_model import key_of, keys_of

if TYPE_CHECKING:
    from tests.support.convergence import Convergence
    from tests.support.convergence_views import View

MAX_AGE_DAYS = 60.0
CONFIRM_DAYS = 0.55
ROUNDS = 8
APPROVALS = 4


def settle(test: Convergence) -> None:
    """Run until all pages came due and nothing waits; then once more, which changes nothing."""
    test.step([], MAX_AGE_DAYS)
    test.step([], MAX_AGE_DAYS)  # what that found unlisted has been waited for by now
    for _ in range(APPROVALS):
        for _ in range(ROUNDS):
            if not unsettled(test):
                break
            test.step([], CONFIRM_DAYS)
        if not unsettled(test):
            break
        assert needs_person(test), f"does not settle: {unsettled(test)}"
        # Pages that only those led to are unlisted then.
        approve_all(test)
        test.step([], CONFIRM_DAYS)
    assert not unsettled(test), f"does not settle when approved: {unsettled(test)}"
    before = test.view
    ended = test.step([], MAX_AGE_DAYS)
    if test.view.generation != before.generation:
        raise AssertionError(
            f"a run published although nothing changed: {edited(before, test.view)}"
        )
    assert not ended.embedded, "a run embedded although nothing changed"


def edited(before: View, after: View) -> list[str]:
    """Return what a run published, with what the run before it knew of these pages."""
    return [
        f"{key}: {before.pages.get(key)} -> {page}; {before.records.get(key)}"
        for key, page in after.pages.items()
        if page != before.pages.get(key)
    ]


def approve_all(test: Convergence) -> None:
    """Have a person approve what is held."""
    test.sound = False
    state = open_for_writing(test.config, NAME, "test", test.now)
    try:
        clock = make_clock(test.offset)
        done = approve(state, test.config, lambda: make_embedder(test.config), Choice(), clock)
    finally:
        state.close()
    assert done.entries
    test.happened["approved"] += 1
    test.view = view_of(test.config, test.now)
    test.generations.note(test.view)
    checks.check_verified(test.config, test.embedder)


def unsettled(test: Convergence) -> list[str]:
    """Return what is left to do, in words."""
    view = test.view
    found = [f"{key}: staged ({entry.held or 'not held'})" for key, entry in view.staged.items()]
    for key, record in view.records.items():
        if record.status != Status.LIVE:
            continue
        if record.failures or (record.doubt and not record.doubt.get("believed")):
            found.append(f"{key}: {record.last_verdict} ({record.reason})")
        if test.absent != "keep" and key not in view.reached:
            found.append(f"{key}: unlisted, found by {record.missing_runs} runs")
    return found


def needs_person(test: Convergence) -> bool:
    """Tell whether what waits are removals on which a person must decide."""
    staged = test.view.staged.values()
    return bool(staged) and all(entry.held == "removals" and entry.person for entry in staged)


def same_as_first_crawl(test: Convergence) -> None:
    """Compare the answers with those of a first crawl of the site as it is now."""
    ended = test.crawl(test.first)
    assert ended.went_well, "the first crawl did not go well"
    view = view_of(replace(test.config, state_dir=str(test.first.state)), test.now)
    checks.check_index(view)
    more = explained(test, test.view, view)
    rows = [row for row in test.view.rows if row["key"] not in more]
    told = checks.difference(rows, view.rows)
    assert not told, told
    kept = {row["id"] for row in rows}
    assert {i: v for i, v in test.view.indexed.items() if i in kept} == view.indexed


def explained(test: Convergence, view: View, first: View) -> set[str]:
    """Return the pages that a first crawl cannot find, which answer and so are kept.

    Raises:
        AssertionError: a page has no right to be in the answers.
    """
    more = view.live - first.live
    listed = keys_of(test.site.listed())
    answering = {key_of(p.path): p for p in test.site.pages.values() if p.is_document}
    for key in more:
        assert key in answering, f"{key} is in the answers, and does not answer any more"
        assert key not in listed, f"{key} is listed and answers; a first crawl left it out"
        may_stay = test.absent == "keep" or key in view.reached
        assert may_stay, f"{key} is reached from nowhere and still in the answers"
        body = test.site.html(answering[key]).encode()
        version = test.versions.of(key, view.pages[key].url, body)
        assert view.pages[key].digest == version.digest, f"{key} is unlisted, and out of date"
    return more
