"""Every way a page can answer, over three runs of one site: what is served, and why."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.origin import Answer, Origin, page
from tests.support.project import export, report, scrapy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Many pages leave at once on purpose: the guards have tests of their own.
OPEN_GUARDS = {f"FRESHCRAWL_GUARD_{what}_RATIO": 1 for what in ("REMOVED", "CHANGED", "FAILED")}
DAY = 86_400
LISTED = [
    "/stay.html", "/edit.html", "/target.html", "/gone.html", "/dead.html", "/dropped.html",
    "/unlisted.html", "/broken.html", "/moved.html", "/temporary.html", "/noindex.html",
    "/header.html", "/file.pdf", "/emptied.html", "/away.html", "/folder", "/canonical.html",
    "/stub.html", "/never.html", "/login.html", "/api.html", "/loose.html", "/stable",
]  # fmt: skip


@dataclass
class Story:
    """The site after each run: the run's report and the texts that are served, by path."""

    origin: Origin
    state: Path
    reports: list[dict[str, Any]]
    served: list[dict[str, str]]

    def explain(self, path: str) -> dict[str, Any]:
        """Return what is known of a page after the last run."""
        result = scrapy("explain", self.origin.url + path[1:], "--json", state=self.state)
        [found] = json.loads(result.stdout)
        return dict(found)


def first_version(origin: Origin) -> None:
    for path in LISTED:
        origin[path] = page(path, f"The text of {path}.")
    origin["/file.pdf"] = Answer(b"%PDF-1.7", content_type="application/pdf")
    origin["/target.html"] = page("T", 'See <a href="https://example.com/1">there</a>.')
    origin["/folder"] = Answer(status=301, headers={"Location": "/folder/"})
    origin["/folder/"] = page("Folder", "The folder's text.")
    origin["/canonical.html"] = page(
        "Copy", "A copy.", head=f'<link rel="canonical" href="{origin.url}stay.html">'
    )
    origin["/stub.html"] = '<meta http-equiv="refresh" content="0; url=stay.html">'
    origin["/never.html"] = page("", "").replace("menu", "")
    origin["/stable"] = Answer(status=302, headers={"Location": "/v1/"})
    origin["/v1/"] = page("One", "The text of version 1.")
    origin.serve_sitemap(*LISTED)


def second_version(origin: Origin) -> None:
    origin["/edit.html"] = page("/edit.html", "Another text.")
    origin["/target.html"] = page("T", 'See <a href="https://example.com/2">there</a>.')
    origin["/gone.html"] = Answer(status=410)
    origin["/dead.html"] = Answer(status=404)
    del origin.answers["/dropped.html"]
    origin["/broken.html"] = Answer(status=500)
    origin["/moved.html"] = Answer(status=301, headers={"Location": "/new-place.html"})
    origin["/new-place.html"] = page("/moved.html", "The text of /moved.html.")
    origin["/temporary.html"] = Answer(status=302, headers={"Location": "/stay.html"})
    origin["/noindex.html"] = page("N", "n", head='<meta name="robots" content="noindex">')
    origin["/header.html"] = Answer(page("H", "h"), headers={"X-Robots-Tag": "noindex"})
    origin["/emptied.html"] = "<html><body></body></html>"
    origin["/away.html"] = Answer(status=301, headers={"Location": "http://localhost:9/x.html"})
    origin["/login.html"] = Answer(status=302, headers={"Location": "/sign-in?next=x"})
    origin["/sign-in?next=x"] = page("Sign in", "Who are you?")
    origin["/api.html"] = Answer('{"error": "later"}', content_type="application/json")
    origin["/loose.html"] = Answer(status=302, headers={"Location": "http://[x"})
    origin["/stable"] = Answer(status=302, headers={"Location": "/v2/"})
    origin["/v2/"] = page("Two", "The text of version 2.")
    origin["/added.html"] = page("Added", "The text of /added.html.")
    gone = {"/dropped.html", "/unlisted.html"}
    origin.serve_sitemap(*(path for path in LISTED if path not in gone), "/added.html")


def third_version(origin: Origin) -> None:
    """Two pages come back as they were; the others stay as they are."""
    origin["/gone.html"] = page("/gone.html", "The text of /gone.html.")
    origin["/noindex.html"] = page("/noindex.html", "The text of /noindex.html.")


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    state = tmp_path_factory.mktemp("outcomes") / "state"
    with Origin() as origin:
        story = Story(origin, state, [], [])
        for number, version in enumerate([first_version, second_version, third_version]):
            version(origin)
            result = scrapy(
                "crawl", "docs", "-a", f"url={origin.url}", "-a", "full=1",
                state=state, clock_offset_s=number * DAY,
                settings={**OPEN_GUARDS, "RETRY_ENABLED": 0},
            )  # fmt: skip
            assert result.returncode == 0, result.stderr[-3000:]
            story.reports.append(report(state))
            rows = export(state)
            story.served.append({row["url"].removeprefix(origin.url): row["text"] for row in rows})
        yield story


def test_first_run(story: Story) -> None:
    paths = {path[1:] for path in LISTED}
    left_out = {"file.pdf", "canonical.html", "stub.html", "never.html", "folder"}
    assert story.served[0]["stable"] == "The text of version 1."
    assert story.served[0].keys() == paths - left_out | {"folder/"}
    assert story.reports[0]["complete"]
    assert story.reports[0]["excluded"] == 2


@pytest.mark.parametrize(
    ("path", "served"),
    [
        ("stay.html", "The text of /stay.html."),
        ("edit.html", "Another text."),
        ("target.html", "See [there](https://example.com/2)."),
        ("unlisted.html", "The text of /unlisted.html."),
        ("broken.html", "The text of /broken.html."),
        ("emptied.html", "The text of /emptied.html."),
        ("temporary.html", "The text of /temporary.html."),
        ("new-place.html", "The text of /moved.html."),
        ("added.html", "The text of /added.html."),
        ("login.html", "The text of /login.html."),
        ("api.html", "The text of /api.html."),
        ("loose.html", "The text of /loose.html."),
        ("stable", "The text of version 2."),
        ("sign-in?next=x", None),
        ("gone.html", None),
        ("dead.html", None),
        ("dropped.html", None),
        ("moved.html", None),
        ("noindex.html", None),
        ("header.html", None),
        ("away.html", None),
    ],
)
def test_second_run(story: Story, path: str, served: str | None) -> None:
    assert story.served[1].get(path) == served


def test_second_run_counts(story: Story) -> None:
    run = story.reports[1]
    names = ("new", "changed", "links_only", "gone", "hidden", "missing", "rejected", "failed")
    assert {name: run[name] for name in names} == {
        "new": 2, "changed": 2, "links_only": 1, "gone": 2, "hidden": 4, "missing": 1,
        "rejected": 4, "failed": 2,
    }  # fmt: skip
    # The moved page's vectors were kept; the page with a new link target needs none.
    assert run["chunks_embedded"] == 3
    assert run["complete"]


def test_what_comes_back_is_served_again_and_embedded_by_no_one(story: Story) -> None:
    assert story.served[2]["gone.html"] == "The text of /gone.html."
    assert story.served[2]["noindex.html"] == "The text of /noindex.html."
    assert story.reports[2]["chunks_embedded"] == 0


@pytest.mark.parametrize(
    ("path", "status", "reason"),
    [
        ("/dead.html", "gone", "404, and hidden before"),
        ("/dropped.html", "gone", "404, and no sitemap or page links to it any more"),
        ("/unlisted.html", "live", "no sitemap or page links to it any more (found by 2 runs)"),
        ("/broken.html", "live", "HTTP 500"),
        ("/moved.html", "alias", "moved to 127.0.0.1:{port}/new-place.html"),
        ("/temporary.html", "live", "redirects to 127.0.0.1:{port}/stay.html for now"),
        ("/canonical.html", "alias", "rel=canonical names 127.0.0.1:{port}/stay.html"),
        ("/stub.html", "alias", "moved to 127.0.0.1:{port}/stay.html"),
        ("/header.html", "hidden", "X-Robots-Tag: noindex"),
        ("/file.pdf", "excluded", "not a document (content type application/pdf)"),
        ("/away.html", "hidden", "redirects off the site to http://localhost:9/x.html"),
        ("/emptied.html", "live", "no text found in the page"),
        ("/never.html", "excluded", "no text found in the page"),
        ("/gone.html", "live", ""),
        ("/login.html", "live", "redirects to 127.0.0.1:{port}/sign-in?next=x for now"),
        ("/api.html", "live", "not a document (content type application/json)"),
        ("/loose.html", "live", "redirects to 'http://[x'"),
    ],
)
def test_explain_gives_the_reason(story: Story, path: str, status: str, reason: str) -> None:
    found = story.explain(path)
    assert (found["status"], found["reason"]) == (status, reason.format(port=story.origin.port))
    if status != "live":
        proof = found["proofs"][-1]
        assert (proof["status"], proof["over_at"]) == (status, None)
        assert proof["url"].endswith(path)
    elif path == "/gone.html":
        assert found["proofs"][-1]["left_at"] < found["proofs"][-1]["over_at"]


def test_errors_and_rejected_bodies_mark_the_answers_stale(story: Story) -> None:
    stale = {
        row["url"].removeprefix(story.origin.url) for row in export(story.state) if row["stale"]
    }
    kept = {"broken", "emptied", "temporary", "login", "api", "loose"}
    assert {f"{name}.html" for name in kept} <= stale
    assert "stay.html" not in stale


def test_sitemaps_and_robots_are_asked_for_without_validators(story: Story) -> None:
    for asked in story.origin.asked:
        if asked.path in {"/robots.txt", "/sitemap.xml"}:
            assert "If-None-Match" not in asked.headers
