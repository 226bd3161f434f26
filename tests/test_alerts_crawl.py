"""Alerts of real crawls: what the receiver is told of a site that changes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.support.origin import Answer, Origin, page
from tests.support.project import Result, scrapy
from tests.support.receiver import SECRET, Receiver

if TYPE_CHECKING:
    from pathlib import Path


def crawl(origin: Origin, state: Path, receiver: Receiver, *args: str, code: int = 0) -> Result:
    done = scrapy(
        *("crawl", "docs", "-a", f"url={origin.url}", *args),
        state=state,
        settings={
            **receiver.settings,
            "FRESHCRAWL_GUARD_REMOVED_MIN": 3,
            "FRESHCRAWL_GUARD_CONFIRM_HOURS": 0,
        },
    )
    assert done.returncode == code, done.stderr[-3000:]
    return done


def test_receiver_is_told_what_became_of_a_site(tmp_path: Path) -> None:
    state = tmp_path / "state"
    names = [f"/p{number}" for number in range(12)]
    with Origin() as origin, Receiver() as receiver:
        origin.serve_sitemap(*names)
        for name in names:
            origin[name] = page(name, f"text of {name} as it was first")
        first = crawl(origin, state, receiver)
        assert receiver.told() == {"page.new": 12, "run.completed": 1}
        [run] = receiver.events("run.completed")
        assert run["run"]["first_crawl"]
        assert run["run"]["new"] == 12

        receiver.taken.clear()
        origin["/p1"] = page("/p1", "text of another kind altogether")
        origin["/p2"] = Answer("", 410)
        origin["/p3"] = Answer("", 404)
        origin["/p4"] = Answer("", 301, {"Location": f"{origin.url}p5"})
        crawl(origin, state, receiver, "-a", "full=1")
        told = {event["url"].removeprefix(origin.url): event for event in receiver.events("page")}
        types = {name: event["type"] for name, event in told.items()}
        assert types == {
            "p1": "page.changed",
            "p2": "page.gone",
            "p3": "page.hidden",
            "p4": "page.moved",
        }
        assert told["p1"]["parts"] == ["text"]
        assert told["p4"]["moved_to"] == f"{origin.url}p5"
        assert (told["p3"]["old_status"], told["p3"]["status"]) == ("live", "hidden")
        assert "404" in told["p3"]["reason"]
        causes = {name: told[name].get("cause") for name in types}
        assert causes == {"p1": None, "p2": "gone", "p3": "not_found", "p4": "moved"}

        receiver.taken.clear()
        for name in names[5:]:
            origin[name] = Answer("", 410)
        last = crawl(origin, state, receiver, "-a", "full=1", code=3)
        # p3, as this run found it dead again; what is held is not told of page by page.
        assert receiver.told() == {"page.gone": 1, "run.completed": 1, "run.held": 1}
        [held] = receiver.events("run.held")
        assert held["run"]["held"] == 7
        assert any("--pages held" in remedy for remedy in held["remedies"])
        posts = receiver.posts
        crawl(origin, state, receiver, "-a", "full=1", "-a", "dry_run=1", code=3)
        assert receiver.posts == posts, "a dry run told something"
        receiver.check()
    for text in (first.stderr, last.stderr):
        assert SECRET not in text
        assert "path-of-the-receiver" not in text
    for path in state.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert SECRET.encode() not in data
            assert b"path-of-the-receiver" not in data
    status: dict[str, Any] = json.loads(scrapy("status", "--json", state=state).stdout)
    assert status["sites"][0]["alerts"] == {
        "waiting": 0,
        "failing": 0,
        "attempts": 0,
        "dead": 0,
        "problem": "",
    }
