"""A person's word on held work: approved at once, or discarded and not found again."""

from __future__ import annotations

import argparse
import json
import shutil
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.exceptions import UsageError

from freshcrawl.commands.approve import Command as Approve
from freshcrawl.commands.discard import Command as Discard
from freshcrawl.rollback import release, roll_back
from freshcrawl.seams import Seam, listening
from freshcrawl.state import make_embedder, open_for_writing
from tests.support.cuts import Killed, WatchedEmbedder, copy_as_killed
from tests.support.decided_site import DecidedSite
from tests.support.in_process import NAME
from tests.support.site_model import key_of, url_of
from tests.support.site_server import Faults

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE = 30
GONE = 12


@pytest.fixture(params=[False, True], ids=["sitemap", "links"])
def either(request: pytest.FixtureRequest) -> Iterator[DecidedSite]:
    """Return a site whose removals and changes are held, found in either way."""
    yield from held_site(by_links=request.param)


@pytest.fixture
def site() -> Iterator[DecidedSite]:
    """Return a site whose removals and changes are held."""
    yield from held_site(by_links=False)


def held_site(*, by_links: bool) -> Iterator[DecidedSite]:
    site = DecidedSite(SIZE + GONE, by_links=by_links)
    site.crawl()
    site.drop(site.paths[:GONE], 410)
    site.rewrite(site.paths[GONE:])
    site.crawl(24 * 61)
    assert site.held() == set(site.paths)
    yield site
    site.close()


def old_and_new(site: DecidedSite) -> tuple[set[str], set[str]]:
    """Return which of the rewritten pages are not shown as they are now, and which are."""
    new = {path for path in site.paths[GONE:] if site.shows(path)}
    return set(site.paths[GONE:]) - new, new


def test_discarded_work_is_not_found_again(either: DecidedSite) -> None:
    site = either
    decided = site.discard()
    assert len(decided.entries) == SIZE + GONE
    assert site.found_wrong() == []
    texts = len(WatchedEmbedder.texts)
    for _ in range(3):
        report = site.crawl(24 * 61)
        assert (report.held, report.changed, report.gone) == (0, 0, 0)
        assert site.live() == set(site.paths)
        assert old_and_new(site)[1] == set()
        assert site.found_wrong() == []
    assert len(WatchedEmbedder.texts) == texts
    status = site.status()
    assert status["stale_reasons"] == status["stale_decided"] == {
        "kept by a person: new text discarded": SIZE,
        "kept by a person: removal discarded (410)": GONE,
    }  # fmt: skip
    assert site.check() == 0


def test_something_else_ends_a_discard(site: DecidedSite) -> None:
    site.discard()
    back, edited, dead = site.paths[0], site.paths[GONE], site.paths[GONE + 1]
    site.bring_back([back])
    site.rewrite([edited])
    site.drop([dead], 404)
    site.crawl(24 * 61)
    assert site.live() == set(site.paths) - {dead}
    assert old_and_new(site)[1] == {edited}
    assert site.status()["stale"] == SIZE + GONE - 3
    site.drop([back], 410)
    site.crawl(24 * 61)
    assert site.live() == set(site.paths) - {dead, back}, "found anew, and one alone is not held"


def test_approving_a_page_takes_its_discard_back(site: DecidedSite) -> None:
    site.discard()
    gone, new = site.paths[0], site.paths[GONE]
    decided = site.approve(paths=[gone, new])
    assert decided.entries == []
    assert [record.key for record in decided.taken_back] == [key_of(gone), key_of(new)]
    assert site.live() == set(site.paths), "the next crawl looks"
    site.crawl(1)
    assert site.live() == set(site.paths) - {gone}
    assert old_and_new(site)[1] == {new}


def test_a_discarded_unlisted_page_stays_until_it_is_listed_again() -> None:
    site = DecidedSite(20, table='absent = "hide"\nmissing_runs = 1\n')
    try:
        site.crawl()
        for path in site.paths[:7]:
            site.site.unlist(site.site.pages[path])
        site.crawl(24 * 61)
        assert site.held() == set(site.paths[:7])
        site.discard()
        for _ in range(3):
            assert site.crawl(24 * 61).held == 0
            assert site.live() == set(site.paths)
        assert site.status()["stale"] == 7
        site.site.relist(site.site.pages[site.paths[0]])
        site.crawl(24 * 61)
        assert site.status()["stale"] == 6
        assert site.found_wrong() == []
    finally:
        site.close()


@pytest.mark.parametrize("edit", ["text", "link"])
def test_a_discard_of_an_unlisted_page_outlasts_edits(edit: str) -> None:
    site = DecidedSite(20, table='absent = "hide"\nmissing_runs = 1\n')
    try:
        site.crawl()
        hit = site.paths[:7]
        for path in hit:
            site.site.unlist(site.site.pages[path])
        site.crawl(24 * 61)
        site.discard()
        if edit == "text":
            site.rewrite(hit[:1])
        else:
            site.site.point_elsewhere(site.site.pages[hit[0]])
        for _ in range(3):
            assert site.crawl(24 * 61).held == 0
            assert site.live() == set(site.paths)
            assert site.shows(hit[0])
        assert site.status()["stale"] == site.status()["stale_decided"].popitem()[1] == 7
        assert site.found_wrong() == []
    finally:
        site.close()


def test_pages_that_the_table_leaves_out_stay_when_that_is_discarded() -> None:
    site = DecidedSite(20)
    try:
        site.crawl()
        site.set_table('deny = ["/p0"]\n')
        for _ in range(2):
            assert site.crawl(1).held == 10
        site.discard()
        for _ in range(2):
            report = site.crawl(13)
            assert (report.held, report.excluded) == (0, 0)
            assert site.live() == set(site.paths)
        assert site.status()["stale"] == 10
        site.set_table("")
        site.crawl(13, faults=Faults(pages="503"))
        assert not [why for why in site.status()["stale_reasons"] if "discarded" in why]
        site.crawl(13)
        assert site.status()["stale"] == 0
    finally:
        site.close()


SEAMS = [
    *(Seam.STAGED, Seam.VECTORS_KEPT, Seam.CONTENT_KEPT, Seam.ROWS_WRITTEN, Seam.INDEX_NAMED),
    *(Seam.MANIFEST_NAMED, Seam.SWITCHED, Seam.RECORDS_COMMITTED, Seam.TIDIED),
]


def approve_killed_at(site: DecidedSite, seam: Seam) -> None:
    """Approve all, by a process that dies at a seam."""
    state, copy = site.place.state, site.folder / "killed"

    def kill(reached: Seam) -> None:
        if reached is seam and not copy.exists():
            copy_as_killed(state, copy)
        if copy.exists():
            raise Killed(reached)

    with listening(kill), pytest.raises(Killed):
        site.approve()
    shutil.rmtree(state)
    copy.rename(state)


def test_records_know_where_pages_moved_though_the_approval_was_killed() -> None:
    site = DecidedSite(20)
    try:
        site.crawl()
        for path in site.paths[:7]:
            site.site.pages[path].status, site.site.pages[path].target = 301, "/p19"
        site.crawl(24 * 61)
        approve_killed_at(site, Seam.SWITCHED)
        site.approve()
        records = site.view.records
        assert {records[key_of(path)].alias_of for path in site.paths[:7]} == {key_of("/p19")}
        assert site.found_wrong() == []
    finally:
        site.close()


def test_an_approval_that_is_killed_anywhere_is_repeated(site: DecidedSite) -> None:
    state, kept = site.place.state, site.folder / "kept"
    shutil.copytree(state, kept)
    site.approve()
    wanted = (site.view.rows, site.view.vectors, sorted(site.view.live))
    for seam in SEAMS:
        shutil.rmtree(state)
        shutil.copytree(kept, state)
        before = site.view.rows
        approve_killed_at(site, seam)
        assert site.view.rows in (before, wanted[0]), seam
        assert not [line for line in site.found_wrong() if "damage" in line], seam
        site.approve()
        view = site.view
        assert (view.rows, view.vectors, sorted(view.live)) == wanted, seam
        assert site.found_wrong() == [], seam
        assert not view.staged, seam


def told(
    capsys: pytest.CaptureFixture[str],
    site: DecidedSite,
    command: Any,
    *args: str,
    **more: Any,
) -> tuple[int, str, str]:
    """Return what a command ends with and prints."""
    command.settings = site.place.settings({"FRESHCRAWL_CLOCK_OFFSET_SECS": site.offset})
    given = {"site": "", "json": False, "dry_run": False, **more}
    given["site"] = given.pop("named", "")
    command.run(list(args), argparse.Namespace(**given))
    said = capsys.readouterr()
    return command.exitcode, said.out, said.err


@pytest.mark.parametrize(("command", "done"), [(Approve, "approved"), (Discard, "discarded")])
def test_commands(
    capsys: pytest.CaptureFixture[str], site: DecidedSite, command: type, done: str
) -> None:
    gone = url_of(site.paths[0])
    code, out, _ = told(capsys, site, command(), "removals", dry_run=True)
    assert code == 0
    assert out.startswith(f"{NAME}: {GONE} held pages would be {done}")
    assert f"  {gone}  would leave the answers (gone: 410)\n" in out
    assert site.held() == set(site.paths), "nothing was done"
    code, out, _ = told(capsys, site, command(), gone, json=True)
    [said] = json.loads(out)["sites"]
    assert [page["url"] for page in said["pages"]] == [gone]
    assert said["generation"] == (2 if command is Approve else None)
    assert told(capsys, site, command())[0] == 0
    assert site.held() == set()
    assert told(capsys, site, command()) == (0, f"{NAME}: nothing is held\n", "")
    nothing = (0, f"{NAME}: nothing of that is held\n", "")
    assert told(capsys, site, command(), "changes", url_of(site.paths[GONE])) in (
        nothing,
        (0, f"{NAME}: {url_of(site.paths[GONE])} was discarded before; it is due for the next "
         "crawl\n", ""),
    )  # fmt: skip
    assert site.found_wrong() == []


@pytest.mark.parametrize("command", [Approve, Discard])
def test_what_is_not_known_is_one_line(
    capsys: pytest.CaptureFixture[str], site: DecidedSite, command: type
) -> None:
    told_so = "'removal' is neither removals nor changes nor a URL; did you mean removals"
    with pytest.raises(UsageError, match=told_so):
        told(capsys, site, command(), "removal")
    code, out, err = told(capsys, site, command(), url_of("/nowhere"))
    assert (code, out) == (1, "")
    assert err == f"freshcrawl: {NAME} does not know the page {url_of('/nowhere')}\n"
    code, out, err = told(capsys, site, command(), named="other")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "no state of a site 'other'" in err
    assert site.held() == set(site.paths)


def test_of_several_sites_the_one_that_knows_the_page_is_meant(
    capsys: pytest.CaptureFixture[str], site: DecidedSite
) -> None:
    page, both = url_of(site.paths[0]), url_of(site.paths[1])
    shutil.copytree(site.place.state / NAME, site.place.state / "other")
    with closing(open_for_writing(site.config(), "other", "test", site.now)) as other:
        other.records.delete(f"page:{key_of(site.paths[0])}")
        other.records.commit()
    assert told(capsys, site, Discard(), page)[:2] == (
        0,
        f"{NAME}: 1 held page discarded: they stay as they are published\n"
        f"  {page}  would leave the answers (gone: 410)\n",
    )
    for args in ([both], [url_of("/nowhere")], ["removals"], []):
        with pytest.raises(UsageError, match="there are several sites: name one with --site"):
            told(capsys, site, Discard(), *args)


@pytest.mark.parametrize("dry_run", [True, False])
@pytest.mark.parametrize("command", [Approve, Discard])
def test_a_pinned_site_is_refused(
    capsys: pytest.CaptureFixture[str], site: DecidedSite, command: type, *, dry_run: bool
) -> None:
    site.approve("changes")
    config = site.config()
    with site.writer() as state:
        roll_back(state, config, lambda: make_embedder(config), 1, site.now)
    code, out, err = told(capsys, site, command(), dry_run=dry_run)
    assert (code, out) == (1, "")
    assert err == (
        f"freshcrawl: {NAME} is rolled back to generation 1: nothing is published until scrapy "
        f"rollback --release --site {NAME}\n"
    )
    with site.writer() as state:
        release(state, site.now)
    assert told(capsys, site, command(), dry_run=dry_run)[0] == 0
