"""Crawl, query and change of model with static and int8 models, by the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.models import static_model, tiny_model
from tests.support.origin import Origin, page
from tests.support.project import report, scrapy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.model


@pytest.fixture
def origin() -> Iterator[Origin]:
    with Origin() as site:
        site["/handle"] = page("Handle", "Turn the handle until the valve answers.")
        site["/lamp"] = page("Lamp", "Light the lamp when the night comes.")
        site.serve_sitemap("/handle", "/lamp")
        yield site


def done(*args: str, state: Path, **settings: object) -> str:
    """Run a command with a local model; return what it wrote to stdout."""
    given = {f"FRESHCRAWL_EMBED_{name.upper()}": value for name, value in settings.items()}
    ended = scrapy(*args, state=state, embedder="real", settings=given)
    assert ended.returncode == 0, ended.stderr[-2000:]
    return ended.stdout


def first_hit(state: Path, **settings: object) -> Any:
    answer = done("query", "when is the lamp lit", "-k", "1", "--json", state=state, **settings)
    return json.loads(answer)[0]


def test_static_model(tmp_path: Path, state: Path, origin: Origin) -> None:
    model = static_model(tmp_path / "static", subfolder=True)
    done("crawl", "docs", "-a", f"url={origin.url}", state=state, model=model)
    assert report(state)["chunks_embedded"] == 2
    assert first_hit(state, model=model)["url"] == f"{origin.url}lamp"


def test_int8_is_another_model_for_the_index(
    tmp_path: Path, state: Path, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    model = tiny_model(tmp_path / "tiny")
    done("crawl", "docs", "-a", f"url={origin.url}", state=state, model=model)
    refused = scrapy(
        *("query", "lamp"),
        state=state,
        embedder="real",
        settings={"FRESHCRAWL_EMBED_MODEL": model, "FRESHCRAWL_EMBED_BACKEND": "onnx"},
    )
    assert refused.returncode == 1
    assert "+int8" in refused.stderr
    told = done("reindex", state=state, model=model, backend="onnx")
    assert "2 embedded, 0 reused" in told
    assert "+int8" in told
    assert first_hit(state, model=model, backend="onnx")["score"] > 0
    manifests = sorted(state.glob("*/index/*.json"))
    assert json.loads(manifests[-1].read_text())["prompts"] == {"document": "", "query": ""}
