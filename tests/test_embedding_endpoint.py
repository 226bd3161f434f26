"""An embeddings endpoint in the settings: what is refused, which embedder is made, the doctor."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings

from freshcrawl.config import Config, ConfigError
from freshcrawl.core.hosts import is_near
from freshcrawl.doctor import Level
from freshcrawl.doctor.machine import model_check
from freshcrawl.doctor.packages import BROWSER, MODEL, ONNX, TOKENIZER, WEIGHTS, unused_packages
from freshcrawl.state import make_embedder
from freshcrawl.stores.embedding_options import EmbedOptions
from freshcrawl.stores.faiss_index import FaissIndexStore
from freshcrawl.stores.http_embedding import HttpEmbedder
from freshcrawl.stores.model_files import MINILM
from tests.support import damage
from tests.support.embed_server import EmbedServer
from tests.support.origin import Origin, page
from tests.support.project import command, environment, scrapy
from tests.support.runs import MODEL as HASH
from tests.support.verified import Site

if TYPE_CHECKING:
    from pathlib import Path

KEY = "sk-test-0123456789abcdef"
WITHOUT_TORCH = """
import sys
from freshcrawl.config import Config
from freshcrawl.state import make_embedder
embedder = make_embedder(Config(embed_url=sys.argv[1], embed_model="hash-64"))
assert embedder.token_offsets("some text") and embedder.encode(["a", "b"]).shape == (2, 64)
print([name for name in ("torch", "transformers", "sentence_transformers", "tokenizers",
       "huggingface_hub", "faiss") if name in sys.modules])
"""


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FRESHCRAWL_EMBED_API_KEY", raising=False)
    monkeypatch.delenv("FRESHCRAWL_EMBED_URL", raising=False)


# -- settings ------------------------------------------------------------------------


@pytest.mark.parametrize("priority", ["cmdline", "project", "default"])
def test_the_key_comes_from_the_environment_only(
    priority: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FRESHCRAWL_EMBED_API_KEY", KEY)
    settings = Settings()
    assert Config.from_settings(settings).embed_api_key == KEY
    settings.set("FRESHCRAWL_EMBED_API_KEY", "another key", priority)
    with pytest.raises(ConfigError) as caught:
        Config.from_settings(settings)
    said = "FRESHCRAWL_EMBED_API_KEY must be in the environment: settings are logged"
    assert str(caught.value) == said


def problem(**values: Any) -> str:
    said = ""
    try:
        Config(**values).check()
    except ConfigError as error:
        said = str(error)
    assert KEY not in said
    assert len(said.splitlines()) <= 1
    return said


@pytest.mark.parametrize(
    "url",
    [
        *(
            "https",
            "host/v1",
            "ftp://host/v1",
            "https:///v1",
            "https://host:99999/v1",
            "http://[::1",
        ),
        *("https://host:0/v1", "https://host/v 1", "https://host/v1\n", "https://höst/v1"),
    ],
)
def test_what_is_no_address(url: str) -> None:
    said = "FRESHCRAWL_EMBED_URL is no http(s) URL: give the base of the endpoint, https://host/v1"
    assert problem(embed_url=url) == said


@pytest.mark.parametrize(
    "url", ["https://u@h/v1", "https://:p@h/v1", "https://h/v1?key=1", "https://h/#a"]
)
def test_what_an_address_must_not_hold(url: str) -> None:
    assert "FRESHCRAWL_EMBED_URL must hold no user" in problem(embed_url=url)


@pytest.mark.parametrize("key", ["two words", "clé", "a\nb", "a\x00b"])
def test_key_that_cannot_be_sent(key: str) -> None:
    assert "FRESHCRAWL_EMBED_API_KEY cannot be sent" in problem(embed_api_key=key)
    assert not problem(embed_api_key=f"{KEY}\n")


NEAR = (
    *("127.0.0.1:8080", "localhost", "[::1]:80", "10.1.2.3", "192.168.0.9:1", "172.16.0.1"),
    *("tei", "ollama:11434", "host.docker.internal", "tei.default.svc.cluster.local", "[fd00::1]"),
)
FAR = ("api.example.com", "8.8.8.8", "[2606:4700::1111]", "internal.example.com", "local.com")


@pytest.mark.parametrize("host", [*NEAR, *FAR])
def test_a_key_is_not_sent_in_clear_to_anywhere(host: str) -> None:
    assert is_near(f"http://{host}/v1") == (host in NEAR)
    assert not problem(embed_url=f"http://{host}/v1")
    assert not problem(embed_url=f"https://{host}/v1", embed_api_key=KEY)
    said = f"FRESHCRAWL_EMBED_URL is http://{host} and there is FRESHCRAWL_EMBED_API_KEY: a key is "
    found = problem(embed_url=f"http://{host}/v1", embed_api_key=KEY)
    assert found == (
        "" if host in NEAR else f"{said}sent by https only, except to private addresses"
    )


# -- the embedder --------------------------------------------------------------------


def test_an_endpoint_needs_no_torch() -> None:
    with EmbedServer() as server:
        command = [sys.executable, "-c", WITHOUT_TORCH, server.url]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_identity_is_the_model_and_not_the_address() -> None:
    def identity(model: str = "m", revision: str = "", **options: Any) -> str:
        options = {"url": "http://127.0.0.1:1/v1", **options}
        return HttpEmbedder(model, revision, EmbedOptions(**options)).model

    assert identity() == identity(url="https://other.example/v2", api_key=KEY) == "m"
    assert identity(query_prompt="query: ", timeout_secs=1, chunk_tokens=99) == "m"
    assert identity(MINILM, "2") == f"{MINILM}@2"
    assert identity(revision="2024-05", dimension=256) == "m-256@2024-05"
    assert identity(document_prompt="passage: ") == "m+707ad539"
    assert identity(document_prompt="passage:") != identity(document_prompt="passage: ")


def test_the_address_comes_before_the_class() -> None:
    config = Config(embed_url="http://127.0.0.1:1/v1", embedder_class=HASH, chunk_tokens=99)
    embedder = make_embedder(config)
    assert isinstance(embedder, HttpEmbedder)
    assert (embedder.model, embedder.host, embedder.max_tokens) == (MINILM, "127.0.0.1:1", 99)
    assert make_embedder(config) is embedder


# -- doctor --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "unused"),
    [
        ({"embed_url": "http://tei/v1"}, BROWSER | MODEL | ONNX | WEIGHTS),
        (
            {"embed_url": "http://tei/v1", "embed_tokenizer": "f"},
            BROWSER | (MODEL - TOKENIZER) | ONNX | WEIGHTS,
        ),
    ],
)
def test_packages_of_local_models_do_not_count(
    settings: dict[str, Any], unused: frozenset[str]
) -> None:
    assert unused_packages(Config(**settings), []) == unused


def test_the_endpoint_is_asked_one_embedding() -> None:
    with EmbedServer() as server:
        embedder = HttpEmbedder("hash-64", "", EmbedOptions(url=server.url))
        check = model_check(embedder, load=False)
        assert (check.level, len(server.asked)) == (Level.OK, 0)
        assert check.what == f"hash-64 at {server.host} is not asked (--no-model)"
        check = model_check(embedder, load=True)
        assert (check.level, len(server.texts)) == (Level.OK, 1)
        assert check.what.startswith(f"hash-64 at {server.host} answers: 64 dimensions, ")


@pytest.mark.parametrize(
    ("how", "what", "advice"),
    [
        (
            404,
            "answered 404 (this is a 404)",
            "look at FRESHCRAWL_EMBED_URL and FRESHCRAWL_EMBED_MODEL",
        ),
        (
            503,
            "answered 503 (this is a 503)",
            "see whether it runs, and look at FRESHCRAWL_EMBED_URL",
        ),
    ],
)
def test_what_is_wrong_with_the_endpoint(how: int, what: str, advice: str) -> None:
    with EmbedServer(always=how) as server:
        check = model_check(HttpEmbedder("m", "", EmbedOptions(url=server.url)), load=True)
        assert check.what == f"embeddings endpoint {server.host}: {what}"
    assert (check.level, check.advice) == (Level.FAIL, advice)


def test_doctor_asks_the_endpoint_and_never_shows_the_key(tmp_path: Path) -> None:
    with EmbedServer(key=KEY) as server:
        for key, line in ((KEY, "ok   model"), ("sk-wrong-key-9876543", "fail model")):
            server.script = ["" if key == KEY else "echo of the key"]
            done = subprocess.run(
                command(("doctor",), tmp_path / "state", "hash", 0, server.settings),
                env={**environment(), "FRESHCRAWL_EMBED_API_KEY": key},
                capture_output=True,
                text=True,
                check=False,
            )
            assert f"{line}       " in done.stdout
            assert key not in done.stdout + done.stderr
            assert done.returncode == (key != KEY)
        assert "answered 401 (Incorrect API key provided: ***. Try another)" in done.stdout
        assert "look at FRESHCRAWL_EMBED_API_KEY" in done.stdout


# -- nothing to ask for --------------------------------------------------------------------------


def test_repair_with_an_endpoint_that_is_asked_for_nothing(tmp_path: Path) -> None:
    """What it writes has the length of the vectors that the site has."""
    with Origin() as origin, EmbedServer() as server:
        origin["/a"] = page("A", "The text of a.")
        origin.serve_sitemap("/a")
        site = Site(origin, tmp_path / "state")
        site.crawl()
        damage.index_missing(site.folder)
        done = scrapy("verify", "--repair", state=site.state, settings=server.settings)
        assert (done.returncode, done.stderr) == (0, "")
        assert server.asked == []
    assert FaissIndexStore(site.folder / "index").manifest(1)["dimension"] == 64
    assert scrapy("verify", state=site.state).returncode == 0


def test_reindex_back_to_vectors_that_are_kept(tmp_path: Path) -> None:
    smaller = {"FRESHCRAWL_EMBEDDER_CLASS": "tests.support.embedder.SmallerEmbedder"}
    with Origin() as origin, EmbedServer() as server:
        origin["/a"] = page("A", "The text of a.")
        origin.serve_sitemap("/a")
        site = Site(origin, tmp_path / "state")
        site.crawl()
        for settings in (smaller, server.settings):
            done = scrapy("reindex", state=site.state, settings=settings)
            assert (done.returncode, done.stderr) == (0, "")
        assert "0 embedded, 1 reused; generation 3 with hash-64" in done.stdout
        assert server.asked == []
    assert FaissIndexStore(site.folder / "index").manifest(3)["dimension"] == 64
    assert scrapy("verify", state=site.state).returncode == 0
