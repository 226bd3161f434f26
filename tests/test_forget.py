"""Pages that are forgotten: gone from all that is stored, and never back by themselves."""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.exceptions import UsageError

from freshcrawl import cli
from freshcrawl.alerts.outbox import Outbox
from freshcrawl.commands.due import queue
from freshcrawl.commands.forget import Command
from freshcrawl.commands.history import Command as HistoryCommand
from freshcrawl.compacting import waiting_digests
from freshcrawl.config import ConfigError
from freshcrawl.core.noise_site import SitePlace
from freshcrawl.core.pages import Status
from freshcrawl.explanation import explain, page_lines
from freshcrawl.forgetting import Forgetting, forget, look
from freshcrawl.ledger import Ledger
from freshcrawl.letting_in import let_in
from freshcrawl.noise.memory import SITE_ROW
from freshcrawl.page_history import diff, history
from freshcrawl.policies import schedule_policy
from freshcrawl.reindexing import Reindexing
from freshcrawl.rollback import release, roll_back
from freshcrawl.site_status import KINDS, listed
from freshcrawl.site_tables import make_site
from freshcrawl.stores.base import StoreError
from freshcrawl.witnesses import WITNESSES
from tests.support.origin import Answer, page
from tests.support.quick_site import MODEL, NOW, QuickSite
from tests.support.site_model import key_of, url_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from freshcrawl.config import Config
    from freshcrawl.sites import SiteConfig
    from freshcrawl.state import SiteState

SECRET = "The zirconium vault opens with the word heliotrope."
OLDER = "The older vault opened with the word chrysanthemum."
PATHS = ("/a", "/b", "/old/c", "/old/d", "/secret")


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory, runner: asyncio.Runner) -> QuickSite:
    """Return a site of three generations, of which ``/secret`` has a version each in two."""
    site = QuickSite(tmp_path_factory.mktemp("crawled"), runner)
    for path in PATHS:
        site.serve(path, f"The text of {path} is about valves.")
    site.serve("/secret", OLDER)
    site.on_sitemap(*PATHS)
    site.crawl()
    site.serve("/secret", SECRET)
    site.crawl()
    site.serve("/a", "Another text of a page about valves.")
    site.crawl()
    return site


@pytest.fixture
def site(crawled: QuickSite, tmp_path: Path, runner: asyncio.Runner) -> QuickSite:
    """Return that site with answers and a state of the test's own."""
    return crawled.copied(tmp_path, runner)


def forgotten(site: QuickSite, target: str) -> Forgetting:
    done: Forgetting = site.writing(lambda state, own: forget(state, own, target, NOW))
    return done


def undone(site: QuickSite, target: str) -> Forgetting:
    def work(state: Any, own: Any) -> Forgetting:
        return let_in(state, target, NOW, dry_run=False)

    done: Forgetting = site.writing(work)
    return done


def went_back(site: QuickSite, generation: int) -> None:
    site.writing(lambda state, own: roll_back(state, own, lambda: MODEL, generation, NOW))


def statuses(site: QuickSite) -> dict[str, str]:
    with closing(site.reading()) as state:
        return {key: str(record.status) for key, record in state.pages().items()}


def table_of(state: SiteState) -> SiteConfig:
    table = state.site_table()
    assert table is not None
    return make_site(table, "test")


def told(site: QuickSite, path: str) -> str:
    with closing(site.reading()) as state:
        found = explain(state, url_of(path), NOW, schedule_policy(site.config))
    return "\n".join(page_lines(found, NOW)) if found else ""


def stored(folder: Path) -> bytes:
    """Return all bytes of all files, as somebody who took the disk has them."""
    return b"\0".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def rows(site: QuickSite, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(site.folder / "corpus.sqlite")) as conn:
        return conn.execute(query).fetchall()


def test_a_forgotten_page_is_gone_and_stays_so(site: QuickSite) -> None:
    assert site.urls() == set(PATHS)
    done = forgotten(site, url_of("/secret"))
    assert [row["url"] for row in done.pages] == [url_of("/secret")]
    assert done.generation == 4
    assert site.findings() == []
    for _ in range(2):
        assert site.urls() == set(PATHS) - {"/secret"}
        assert statuses(site)[key_of("/secret")] == Status.FORGOTTEN
        ended = site.crawl()
        assert not site.asked("/secret")
        assert site.asked("/a")
        assert ended.report is not None
        assert (ended.report.complete, ended.embedded) == (True, [])
        assert site.findings() == []
    assert "forgotten on 20" in told(site, "/secret")
    assert told(site, "/secret").startswith(url_of("/secret"))
    assert "not asked for any more" in told(site, "/secret")
    assert "not asked for any more" not in told(site, "/a")
    assert f"to let it in again: scrapy forget --undo {url_of('/secret')}" in told(site, "/secret")


def test_nothing_of_it_can_be_read_in_any_file(site: QuickSite) -> None:
    query = (
        "SELECT data FROM content JOIN published ON content = content.digest"
        " WHERE key LIKE '%secret'"
    )
    vectors = "SELECT vector FROM vectors JOIN chunks USING (embed_digest) WHERE key LIKE '%secret'"
    found = [row[0] for row in (*rows(site, query), *rows(site, vectors))]
    assert len(found) == 4
    before = stored(site.folder)
    texts = [SECRET.encode(), OLDER.encode(), *found]
    assert all(text in before for text in texts)
    forgotten(site, url_of("/secret"))
    after = stored(site.folder)
    assert [text for text in texts if text in after] == []
    assert b"Page /secret" not in after
    kept = [path.name for path in (site.folder / "index").iterdir()]
    assert sorted(kept) == ["4.faiss", "4.json"]


def test_what_waits_for_the_webhook_does_not_name_it(site: QuickSite) -> None:
    def event(path: str, **more: str) -> dict[str, str]:
        return {"type": "page.changed", "url": url_of(path), "key": key_of(path), **more}

    def put(state: SiteState, own: Config) -> None:
        both = [event("/secret", title="Vault"), event("/a", previous_url=url_of("/secret"))]
        batches = [{"id": "one", "events": both}, {"id": "two", "events": both[:1]}]
        Outbox(state.records).add(batches, NOW)
        Outbox(state.records).commit()

    site.writing(put)
    forgotten(site, url_of("/secret"))
    with closing(site.reading()) as state:
        outbox = Outbox(state.records)
        [letter] = outbox.letters()
        [left] = json.loads(outbox.body(letter))["events"]
    assert (letter.id, letter.events) == ("one", 1)
    assert left == event("/a", previous_url="(a forgotten page)")


def test_staged_and_held_work_goes_too(site: QuickSite) -> None:
    went_back(site, 1)
    site.serve("/secret", "A third text, with the word rhododendron.")
    site.crawl()
    with closing(site.reading()) as state:
        work = state.staged_work(key_of("/secret"))
    assert work is not None
    packed = work.body.encode()
    assert packed in stored(site.folder)
    forgotten(site, url_of("/secret"))
    after = stored(site.folder)
    assert packed not in after
    assert b"rhododendron" not in after
    with closing(site.reading()) as state:
        assert state.staged_work(key_of("/secret")) is None
        with closing(state.corpus.snapshot()) as snapshot:
            rollback = snapshot.rollback()
            assert rollback is not None
            assert rollback.pinned
    assert site.findings() == []
    site.crawl()
    assert not site.asked("/secret")
    assert site.urls() == set(PATHS) - {"/secret"}
    site.writing(lambda state, own: release(state, NOW))
    site.crawl()
    assert not site.asked("/secret")
    assert site.urls() == set(PATHS) - {"/secret"}
    assert site.findings() == []


def test_no_way_back_brings_it_back(site: QuickSite) -> None:
    forgotten(site, url_of("/secret"))
    site.writing(lambda state, own: Reindexing(state, table_of(state), own, lambda: NOW).run())
    assert "/secret" not in site.urls()
    with closing(site.reading()) as state, closing(state.corpus.snapshot()) as snapshot:
        earlier = snapshot.generations()[:-1]
    assert len(earlier) == 2
    for generation in earlier:
        went_back(site, generation)
        assert site.urls() == set(PATHS) - {"/secret"}
        assert site.findings() == []


def test_history_and_reports_do_not_name_it(site: QuickSite) -> None:
    with closing(site.reading()) as state:
        assert any(url_of("/secret") in urls for r in state.reports() for urls in r.urls.values())
    forgotten(site, url_of("/secret"))
    with closing(site.reading()) as state:
        known = history(state, url_of("/secret"))
        assert known is not None
        assert known["versions"] == []
        assert not any(
            url_of("/secret") in urls for r in state.reports() for urls in r.urls.values()
        )
        assert any(url_of("/a") in urls for r in state.reports() for urls in r.urls.values())


def test_a_forgotten_page_has_no_versions_to_compare(
    site: QuickSite, capsys: pytest.CaptureFixture[str]
) -> None:
    forgotten(site, url_of("/secret"))
    command = HistoryCommand()
    command.settings = site.place.settings({})
    command.run([url_of("/secret")], argparse.Namespace(site="", json=False))
    out = capsys.readouterr().out
    assert out.startswith(f"{url_of('/secret')}\n")
    assert "  nothing of it is kept: it was forgotten on 20" in out
    with (
        closing(site.reading()) as state,
        pytest.raises(StoreError, match=r"was forgotten on 20.* by scrapy forget"),
    ):
        diff(state, url_of("/secret"), None, None)


def test_savings_count_only_pages_that_could_be_asked_for(site: QuickSite) -> None:
    forgotten(site, url_of("/secret"))
    report = site.crawl(full=False).report
    assert report is not None
    assert (report.recrawl_requests, report.saved_requests) == (4, 4)


def test_a_forgotten_page_is_in_no_queue(site: QuickSite) -> None:
    forgotten(site, url_of("/secret"))
    with closing(site.reading()) as state:
        keys = {row["key"] for row in queue(state, NOW, schedule_policy(site.config))}
        kinds = {
            kind: [row["key"] for row in listed(state, kind, NOW, schedule_policy(site.config))]
            for kind in KINDS
        }
    assert keys == {key_of(path) for path in PATHS if path != "/secret"}
    assert [kind for kind, keys in kinds.items() if key_of("/secret") in keys] == ["forgotten"]


def test_vectors_that_staged_work_waits_for_stay(site: QuickSite) -> None:
    went_back(site, 1)
    site.serve("/b", "A new text of a page that waits.")
    site.serve("/secret", "A new text of the other.")
    site.crawl()

    def put(state: SiteState, own: Config) -> set[str]:
        ledger = Ledger(state, NOW)
        digests = waiting_digests(ledger)
        state.corpus.put_vectors(MODEL.model, {d: MODEL.encode([d])[0] for d in digests})
        return digests - waiting_digests(ledger, {key_of("/b")})

    [waiting] = site.writing(put)
    before = len(rows(site, "SELECT 1 FROM vectors"))
    forgotten(site, url_of("/secret"))
    assert (waiting,) in rows(site, "SELECT embed_digest FROM vectors")
    assert len(rows(site, "SELECT 1 FROM vectors")) < before


def test_noise_of_the_site_does_not_name_it(site: QuickSite) -> None:
    secret, other = key_of("/secret"), key_of("/a")
    places = {"of it": [secret], "of both": [other, secret]}

    def put(state: SiteState, own: Config) -> None:
        known = {name: SitePlace(pages, differed=NOW).to_json() for name, pages in places.items()}
        state.records.put(SITE_ROW, {"places": known})
        state.records.put(f"noise:{secret}", {"places": {}})
        state.records.commit()

    site.writing(put)
    forgotten(site, url_of("/secret"))
    with closing(site.reading()) as state:
        left = (state.records.get(SITE_ROW) or {})["places"]
        assert {name: place["pages"] for name, place in left.items()} == {"of both": [other]}
        assert state.records.get(f"noise:{secret}") is None


def test_undo_lets_it_be_found_and_fetched_as_new(site: QuickSite) -> None:
    forgotten(site, url_of("/secret"))
    site.crawl()
    undone(site, url_of("/secret"))
    assert key_of("/secret") not in statuses(site)
    ended = site.crawl(full=False)
    assert ended.report is not None
    assert ended.report.new == 1
    assert site.urls() == set(PATHS)
    assert "forgotten" not in told(site, "/secret")
    assert site.findings() == []


def test_pattern_takes_what_it_is_found_in_now_and_later(site: QuickSite) -> None:
    done = forgotten(site, "/old/")
    assert {page["key"] for page in done.pages} == {key_of("/old/c"), key_of("/old/d")}
    site.serve("/old/e", "A page that came later.")
    site.on_sitemap(*PATHS, "/old/e")
    site.crawl()
    assert [path for path in site.server.asked if path.startswith("/old/")] == []
    assert statuses(site)[key_of("/old/e")] == Status.FORGOTTEN
    with pytest.raises(StoreError, match="was forgotten by the pattern '/old/'"):
        undone(site, url_of("/old/e"))
    assert undone(site, "/old/").before == sorted(map(key_of, ("/old/c", "/old/d", "/old/e")))
    site.crawl()
    assert site.urls() == {*PATHS, "/old/e"}


def test_redirects_and_canonical_links_do_not_bring_it_back(site: QuickSite) -> None:
    forgotten(site, url_of("/secret"))
    site.server.answers["/b"] = Answer("", 302, {"Location": "/secret"})
    head = f'<link rel="canonical" href="{url_of("/secret")}">'
    site.serve("/copy", SECRET, head=head)
    site.on_sitemap(*PATHS, "/copy")
    for moved in (1, 0):
        report = site.crawl().report
        assert report is not None
        assert (report.new, report.changed, report.moved) == (0, 0, moved)
        assert not site.asked("/secret")
        assert "/copy" not in site.urls()
    site.server.answers["/b"] = Answer("", 301, {"Location": "/secret"})
    site.crawl()
    assert not site.asked("/secret")
    assert "/b" not in site.urls()


def test_a_table_that_leaves_it_out_and_lets_it_in_again_does_not(site: QuickSite) -> None:
    forgotten(site, url_of("/secret"))
    table = site.place.folder / "sites.toml"
    before = table.read_text("utf-8")
    for text in (f'{before}deny = ["/secret"]\n', before):
        table.write_text(text, "utf-8")
        report = site.crawl().report
        assert report is not None
        assert not site.asked("/secret")
        assert (report.failed, report.excluded) == (0, 0)
        assert statuses(site)[key_of("/secret")] == Status.FORGOTTEN
    with closing(site.reading()) as state:
        record = state.page(key_of("/secret"))
    assert record is not None
    assert record.left_out


def test_new_pages_of_a_pattern_are_asked_for_by_no_pointer(site: QuickSite) -> None:
    forgotten(site, "/secret")
    site.server.answers["/new"] = Answer("", 302, {"Location": "/secret/2"})
    site.serve("/secret/2", SECRET)
    site.serve("/copy", SECRET, head=f'<link rel="canonical" href="{url_of("/secret/3")}">')
    site.on_sitemap(*PATHS, "/new", "/copy")
    report = site.crawl().report
    assert not site.asked("/secret/2")
    # Its record has https, which nothing answers here.
    assert report is not None
    assert report.failed == 0
    assert "/copy" not in site.urls()
    assert "/new" not in site.urls()


def test_page_that_links_lead_to_comes_back_by_undo(tmp_path: Path, runner: asyncio.Runner) -> None:
    site = QuickSite(tmp_path, runner, 'discovery = "links"\nabsent = "delete"\nmissing_runs = 1\n')
    others = ["/a", "/d", "/e", "/f", "/g"]
    links = "".join(f'<a href="{path}">{path}</a> ' for path in others)
    site.serve("/", "The start.", links=f'<a href="/hub">hub</a> {links}')
    site.serve("/hub", "The hub.", links='<a href="/b">b</a>')
    for path in others:
        site.serve(path, f"The text of {path[1:]}.")
    site.serve("/b", "The text of b.", links='<a href="/c">c</a>')
    site.serve("/c", "The text of c.")
    site.crawl()
    forgotten(site, url_of("/b"))
    site.crawl()
    assert not site.asked("/b")
    undone(site, url_of("/b"))
    site.crawl(full=False)
    # The start page as well: until the hub was read, it may have come to list what only b listed.
    assert site.asked("/hub")
    assert site.asked("/b")
    # Of the others no more than those whose texts are compared with that of a page that comes in.
    assert sum(map(site.asked, others)) <= WITNESSES
    assert site.urls() == {"/", "/hub", "/b", "/c", *others}


def test_what_only_a_forgotten_page_listed_is_not_unlisted(
    tmp_path: Path, runner: asyncio.Runner
) -> None:
    site = QuickSite(tmp_path, runner, 'discovery = "links"\nabsent = "delete"\nmissing_runs = 1\n')
    site.serve(
        "/", "The start.", links='<a href="/hub">hub</a><a href="/d">d</a><a href="/e">e</a>'
    )
    site.serve("/d", "The text of d.")
    site.serve("/e", "The text of e.")
    site.serve("/hub", "The hub.", links='<a href="/b">b</a>')
    site.serve("/b", "The text of b.", links='<a href="/c">c</a>')
    site.serve("/c", "The text of c.")
    site.crawl()
    forgotten(site, url_of("/hub"))
    for _ in range(3):
        site.crawl()
        assert not site.asked("/hub")
        assert site.urls() == {"/", "/b", "/c", "/d", "/e"}
    assert "listed by forgotten pages" in told(site, "/b")
    undone(site, url_of("/hub"))
    site.serve("/hub", "The hub, without its link.")
    site.server.answers["/b"] = Answer("", 404)
    site.crawl()
    assert site.urls() == {"/", "/d", "/e", "/hub"}


def test_page_that_was_never_published_is_forgotten_without_a_generation(site: QuickSite) -> None:
    site.server.answers["/broken"] = Answer("", 500)
    site.on_sitemap(*PATHS, "/broken")
    site.crawl()
    assert forgotten(site, url_of("/broken")).generation == 3
    site.serve("/broken", SECRET)
    site.crawl()
    assert not site.asked("/broken")
    assert site.findings() == []


def test_other_pages_with_its_text_are_named(site: QuickSite) -> None:
    site.server.answers["/secret"] = Answer("", 301, {"Location": "/moved"})
    # The title is part of the text.
    site.server.answers["/moved"] = Answer(page("Page /secret", SECRET))
    site.on_sitemap(*PATHS[:-1], "/moved")
    site.crawl()
    with closing(site.reading()) as state:
        assert look(state, url_of("/moved")).copies == [url_of("/secret")]
        assert look(state, "/(secret|moved)").copies == []
    forgotten(site, "/(secret|moved)")
    assert SECRET.encode() not in stored(site.folder)


def test_page_whose_text_is_read_elsewhere_is_named_and_found_by_pattern(site: QuickSite) -> None:
    site.server.answers["/now"] = Answer("", 302, {"Location": "/v9/page"})
    site.serve("/v9/page", "The text of a version.")
    site.on_sitemap(*PATHS, "/now")
    site.crawl()
    assert "/now" in site.urls()
    with pytest.raises(StoreError, match=f"{url_of('/now')} redirects to it .* forget that one"):
        forgotten(site, url_of("/v9/page"))
    assert [page["key"] for page in forgotten(site, "/v9/").pages] == [key_of("/now")]
    assert "/now" not in site.urls()


@pytest.mark.parametrize("args", [[], ["/a", "/b"], ["--everything"]])
def test_one_target_is_to_be_given(args: list[str]) -> None:
    with pytest.raises(UsageError):
        Command().run(args, options())


def options(**given: Any) -> argparse.Namespace:
    return argparse.Namespace(
        **{
            "site": "",
            "json": False,
            "dry_run": False,
            "undo": False,
            "all": False,
            "proof": "",
            **given,
        }
    )


def run(of: QuickSite, target: str, **given: Any) -> int:
    command = Command()
    command.settings = of.place.settings({})
    command.run([target], options(**given))
    return int(command.exitcode)


def test_the_command_says_what_it_did(site: QuickSite, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(site, "/old/", json=True) == cli.OK
    [told] = json.loads(capsys.readouterr().out)["sites"]
    assert [row["url"] for row in told["pages"]] == [url_of("/old/c"), url_of("/old/d")]
    assert (told["generation"], told["undo"], told["dry_run"]) == (4, False, False)
    assert run(site, "/old/", undo=True, dry_run=True) == cli.OK
    assert capsys.readouterr().out.startswith("docs: 2 pages would be let in again\n")
    assert run(site, "/old/", undo=True) == cli.OK
    assert capsys.readouterr().out == (
        "docs: 2 pages let in again; the next crawl that finds them fetches them\n"
        "  docs.test/old/c\n  docs.test/old/d\n"
    )
    assert run(site, "/old/", undo=True) == cli.ERROR
    assert "nothing was forgotten by '/old/'; by: none" in capsys.readouterr().err


@pytest.mark.parametrize("pattern", [".", "/*", "/(old/c|a|b)"])
def test_pattern_that_means_most_pages_needs_an_option(
    site: QuickSite, capsys: pytest.CaptureFixture[str], pattern: str
) -> None:
    number = 3 if "old" in pattern else len(PATHS)
    assert run(site, pattern, dry_run=True) == cli.OK
    assert f"docs: {number} pages would be forgotten" in capsys.readouterr().out
    with pytest.raises(UsageError, match=f"found in {number} of 5 pages that are .* add --all$"):
        run(site, pattern)
    assert site.urls() == set(PATHS)
    assert run(site, pattern, all=True) == cli.OK
    assert len(site.urls()) == len(PATHS) - number


def test_of_several_sites_one_is_to_be_named(site: QuickSite) -> None:
    other = site.place.state / "other"
    shutil.copytree(site.folder, other)
    with pytest.raises(UsageError, match="name one with --site"):
        run(site, url_of("/a"))
    assert run(site, url_of("/a"), site="other") == cli.OK
    assert "/a" in site.urls()


def test_dry_run_lists_and_changes_nothing(site: QuickSite) -> None:
    before = stored(site.folder)
    with closing(site.reading()) as state:
        found = look(state, "/(old|secret)")
    assert [page["key"] for page in found.pages] == sorted(map(key_of, PATHS[2:]))
    assert stored(site.folder) == before


@pytest.mark.parametrize(
    ("target", "error", "words"),
    [
        ("https://docs.test/nothing", StoreError, "knows no page of this URL"),
        ("nowhere", StoreError, "knows no page of this regular expression"),
        ("http://docs.test/old/*", StoreError, "a pattern does not begin with https://"),
        ("/old/(", ConfigError, "neither a URL .* nor a regular expression"),
        ("", ConfigError, "an empty pattern"),
        ("https://", ConfigError, "give the URL of a page"),
    ],
)
def test_what_means_no_page_is_said(
    site: QuickSite, target: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        forgotten(site, target)
    assert site.urls() == set(PATHS)
