"""A policy that is changed is applied by the next run to the pages that it is about alone."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import pytest

from freshcrawl.core.evidence import SITE_POLICIES, Policies
from freshcrawl.core.pages import Cause, Status
from freshcrawl.core.proofs import Proof
from freshcrawl.rescoping import POLICIES
from freshcrawl.sites import SiteConfig, default_of
from freshcrawl.witnesses import WITNESSES
from tests.support.runs import Bench, key_of
from tests.support.ways_site import (
    PAGE,
    PATHS,
    Change,
    Ways,
    answers,
    begun,
    first_state,
    html,
    status,
    to,
    unlisted,
)

if TYPE_CHECKING:
    from pathlib import Path

SOON = 0.05
"""Days after which no page of these is due by itself."""


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return first_state(tmp_path_factory.mktemp("policies") / "state", by_links=False)


def disallowed(ways: Ways) -> None:
    ways.site.robots = f"User-agent: *\nDisallow: {PAGE}$\n"


NOINDEX = answers(html(PAGE, head='<meta name="robots" content="noindex">'))
WAYS: dict[str, Change] = {
    "gone": status(410),
    "not_found": status(404),
    "moved": answers(to("/guide/d")),
    "to_home": answers(to("/")),
    "off_site": answers(to("http://elsewhere.test/")),
    "noindex": NOINDEX,
    "robots": disallowed,
    "absent": unlisted,
}
LEFT = {"gone": Status.GONE, "moved": Status.ALIAS}
"""What becomes of a page by the default, where it is not hidden."""
RUNS = {"absent": 3}
"""Runs that it takes."""


def own(value: str, key: str) -> str:
    return f'{key} = "{value}"\n'


def asked(ways: Ways) -> set[str]:
    return set(ways.site.asked) & set(PATHS)


@pytest.mark.parametrize("key", WAYS)
def test_page_that_was_kept_is_let_go_by_the_next_run(state: Path, key: str) -> None:
    with begun(state, own("keep", key)) as ways:
        WAYS[key](ways)
        for _ in range(RUNS.get(key, 1)):
            ways.crawl()
        kept = ways.record()
        assert (kept.status, POLICIES[kept.cause]) == (Status.LIVE, key)
        ways.set_table(own("hide", key) if key in {"robots", "absent"} else "")
        ways.crawl(SOON)
        # Beside it two pages for comparison, at most; what robots.txt disallows is not asked for.
        others = asked(ways) - {PAGE}
        assert len(others) <= 2
        assert (PAGE in asked(ways)) == (key != "robots")
        assert ways.record().status == LEFT.get(key, Status.HIDDEN)
        ways.crawl(SOON)
        assert asked(ways) == set()


@pytest.mark.parametrize("key", WAYS)
def test_page_that_left_is_asked_for_once_when_its_policy_keeps_now(state: Path, key: str) -> None:
    with begun(state, own("hide", key) if key in {"robots", "absent"} else "") as ways:
        WAYS[key](ways)
        for _ in range(RUNS.get(key, 1)):
            ways.crawl()
        assert ways.record().status == LEFT.get(key, Status.HIDDEN)
        ways.set_table(own("keep", key))
        ways.crawl(SOON)
        compared = asked(ways) - {PAGE}
        assert (PAGE in asked(ways)) == (key != "robots")
        assert len(compared) <= WITNESSES, "asked for comparison, as a page comes back"
        # Text that is there to be read is let in again; what gives none is not.
        back = key in {"noindex", "absent"}
        assert (ways.record().status == Status.LIVE) == back
        ways.crawl(SOON)
        assert asked(ways) == set()


def test_page_that_was_hidden_by_a_policy_that_keeps_now_is_back_if_it_answers(state: Path) -> None:
    with begun(state) as ways:
        status(410)(ways)
        ways.crawl()
        assert ways.record().status == Status.GONE
        answers(html(PAGE))(ways)
        ways.set_table(own("keep", "gone"))
        ways.crawl(SOON)
        assert ways.record().status == Status.LIVE


def test_new_page_with_noindex_is_let_in_when_the_policy_keeps(state: Path) -> None:
    with begun(state) as ways:
        ways.site.answers["/new"] = html("/new", head='<meta name="robots" content="noindex">')
        ways.site.listed.append("/new")
        ways.crawl()
        assert ways.record("/new").status == Status.EXCLUDED
        ways.set_table(own("keep", "noindex"))
        ways.crawl(SOON)
        assert ways.record("/new").status == Status.LIVE


def test_page_that_fails_then_is_not_asked_for_by_every_run(state: Path) -> None:
    with begun(state, own("keep", "gone")) as ways:
        status(410)(ways)
        ways.crawl()
        status(503)(ways)
        ways.set_table("")
        ways.crawl(SOON)
        assert asked(ways) == {PAGE}
        assert ways.record().status == Status.LIVE
        ways.crawl(0.001)
        assert asked(ways) == set()
        status(410)(ways)
        ways.crawl()
        assert ways.record().status == Status.GONE


def test_run_that_was_cut_off_leaves_it_to_the_next() -> None:
    bench = Bench(site={"noindex": "hide"})
    bench.publish("b", "c")
    bench.publish("a", status=Status.HIDDEN)
    hidden = bench.run().ledger.pages[key_of("a")]
    hidden.cause = Cause.NOINDEX
    bench.state.records.put(f"page:{hidden.key}", hidden.to_json())
    bench.run().commit()
    bench.site = {"noindex": "keep"}
    assert bench.run().due_keys() == [hidden.key]  # of which nothing is kept
    bench.run().commit()
    assert bench.run().due_keys() == [hidden.key]


def test_page_that_a_person_keeps_is_left_alone() -> None:
    bench = Bench()
    bench.publish("a", "b")
    proof = Proof(Cause.GONE, status=Status.LIVE).to_json()
    for name, discarded in (("a", {"cause": Cause.GONE}), ("b", {})):
        record = bench.run().ledger.pages[key_of(name)]
        record.cause, record.proofs, record.discarded = Cause.GONE, [proof], discarded
        bench.state.records.put(f"page:{record.key}", record.to_json())
    assert bench.run().due_keys() == [key_of("b")]
    bench.site = {"gone": "keep"}
    assert bench.run().due_keys() == []


def test_other_key_of_the_table_asks_for_nothing(state: Path) -> None:
    with begun(state, own("keep", "gone")) as ways:
        status(410)(ways)
        ways.crawl()
        ways.set_table(own("keep", "gone") + own("keep", "to_home") + "missing_runs = 4\n")
        ways.crawl(SOON)
        assert asked(ways) == set()


def test_every_policy_is_applied_and_has_one_default() -> None:
    assert {*POLICIES.values(), "out_of_scope"} == set(SITE_POLICIES)
    defaults = {field.name: default_of(field) for field in fields(SiteConfig)}
    assert {key: defaults[key] for key in SITE_POLICIES} == {
        key: getattr(Policies(), key) for key in SITE_POLICIES
    }
