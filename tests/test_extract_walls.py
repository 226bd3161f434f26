"""Login forms, challenges, consent and maintenance pages are told from documentation about them."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import pytest

from freshcrawl.extract import extract
from tests.support.wall_pages import DOCUMENTATION, WALLS, WORDS, html

if TYPE_CHECKING:
    from pathlib import Path

URL = "https://docs.example.com/guide/a.html"
KINDS = [(kind, body) for kind, bodies in WALLS.items() for body in bodies]


@pytest.mark.parametrize(("kind", "body"), KINDS)
def test_walls_are_found(kind: str, body: str) -> None:
    document = extract(body, URL)
    assert document.wall == kind
    assert document.wall_sign


@pytest.mark.parametrize("body", DOCUMENTATION.values(), ids=DOCUMENTATION)
def test_documentation_is_no_wall(body: str) -> None:
    document = extract(body, URL)
    assert (document.wall, document.wall_sign) == ("", "")


@pytest.mark.parametrize(("kind", "body"), KINDS)
def test_a_page_with_something_to_say_is_no_wall(kind: str, body: str) -> None:
    """Whatever else is on it: a mark alone is not enough."""
    end = next(end for end in ("</main>", "</article>", "</body>") if end in body)
    text = f"<section><h2>Queues</h2><p>{WORDS * 5}</p></section>"
    assert extract(body.replace(end, f"{text}{end}"), URL).wall == ""


@pytest.mark.parametrize(("kind", "body"), KINDS)
def test_a_mark_shown_as_text_is_none(kind: str, body: str) -> None:
    shown = body.replace("&", "&amp;").replace("<", "&lt;")
    assert extract(html("How it looks", f"<h1>How it looks</h1><pre>{shown}</pre>"), URL).wall == ""


def test_what_the_site_drops_is_no_mark() -> None:
    body = html("Moved", '<h1>Moved</h1><div class="login"><input type="password"></div>')
    assert extract(body, URL).wall == "login form"
    assert extract(body, URL, drop=["div.login"]).wall == ""


def test_no_page_of_real_documentation_is_a_wall(
    sqlalchemy_44: Path, mako_trees: tuple[Path, Path], alembic_trees: tuple[Path, Path],
    lxml_trees: tuple[Path, Path],
) -> None:  # fmt: skip
    trees = (sqlalchemy_44, mako_trees[1], alembic_trees[1], lxml_trees[1])
    pages = list(chain.from_iterable(tree.rglob("*.html") for tree in trees))
    assert len(pages) > 250
    found = {page: extract(page.read_bytes(), URL).wall for page in pages}
    assert [page for page, wall in found.items() if wall] == []
