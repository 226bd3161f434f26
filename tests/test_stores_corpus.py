"""What every Corpus does."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from freshcrawl.core.pages import Status
from freshcrawl.core.published import Chunk, Edit, Published
from freshcrawl.core.rollback import Rollback
from freshcrawl.core.versions import Retention
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.corpus import SqliteCorpus
from freshcrawl.stores.memory import MemoryCorpus, MemoryCorpusData

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from freshcrawl.stores.base import Corpus, Snapshot

    Opener = Callable[[], Corpus]

MODEL = "model@1"
DIMENSION = 4


@pytest.fixture(params=["memory", "sqlite"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    """Return what opens the same corpus again."""
    if request.param == "memory":
        return partial(MemoryCorpus, MemoryCorpusData())
    return partial(SqliteCorpus, tmp_path / "corpus.sqlite")


@pytest.fixture
def corpus(reopen: Opener) -> Iterator[Corpus]:
    opened = reopen()
    yield opened
    opened.close()


def page(key: str, **fields: Any) -> Published:
    given = {"url": f"https://{key}", "digest": f"digest of {key}", "simhash": 2**64 - 1, **fields}
    return Published(key, **given)


def chunk(key: str, ordinal: int, text: str = "", **fields: Any) -> Chunk:
    text = text or f"text {ordinal} of {key}"
    number = int.from_bytes(f"{key}{text}".encode()) % (2**63 - 1)
    return Chunk(number, key, ordinal, ["Top", "Ünder"], "anchor", text, f"d:{text}", **fields)


def edit(key: str, *texts: str, **fields: Any) -> Edit:
    return Edit(page(key, **fields), [chunk(key, n, text) for n, text in enumerate(texts)])


def vector(digest: str, dimension: int = DIMENSION) -> Any:
    row = np.random.default_rng(list(digest.encode())).normal(size=dimension)
    return (row / np.linalg.norm(row)).astype(np.float32)


def put_all_vectors(corpus: Corpus, edits: list[Edit], model: str = MODEL) -> None:
    digests = {chunk.embed_digest for edit in edits for chunk in edit.chunks}
    corpus.put_vectors(model, {digest: vector(digest) for digest in digests})


def publish(
    corpus: Corpus,
    *edits: Edit,
    at: float = 1000.0,
    model: str = MODEL,
    build: Callable[[Snapshot], None] = lambda snapshot: None,
) -> int:
    return corpus.publish(
        edits, run_id="run", model=model, dimension=DIMENSION, published_at=at, build=build
    )


def embed_and_publish(corpus: Corpus, *edits: Edit, at: float = 1000.0) -> int:
    put_all_vectors(corpus, list(edits))
    return publish(corpus, *edits, at=at)


def retain(
    corpus: Corpus, generations: int, unused_since: float, versions: int = 1, left_since: float = 0
) -> list[int]:
    return corpus.retain(Retention(generations, unused_since, versions, left_since))


def texts(corpus: Corpus) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    with closing(corpus.snapshot()) as snapshot:
        for piece in snapshot.chunks():
            found.setdefault(piece.key, []).append(piece.text)
    return found


def not_to_be_called(snapshot: Snapshot) -> None:
    raise AssertionError("there is nothing to build")


def test_empty(corpus: Corpus) -> None:
    with closing(corpus.snapshot()) as snapshot:
        assert snapshot.generation == 0
        assert snapshot.info() == {
            "published_at": 0,
            "run_id": "",
            "model": "",
            "dimension": 0,
            "pages": 0,
            "chunks": 0,
        }
        assert not [*snapshot.pages(), *snapshot.chunks(), *snapshot.vectors()]
        assert snapshot.page("a") is None
        assert snapshot.chunks_by_id([1]) == {}
        assert snapshot.published_at(0) == 0
    assert retain(corpus, 2, 0) == []


def test_publish_and_read_back(corpus: Corpus) -> None:
    first = edit("b.example/x", "one", "two", title="Ü", content="c", changed_at=12.5)
    second = edit("a.example", "three")
    gone = Edit(page("c.example", status=Status.GONE))
    second.chunks[0].embed_text = "not stored"
    assert embed_and_publish(corpus, first, second, gone, at=1234.5) == 1
    with closing(corpus.snapshot()) as snapshot:
        assert snapshot.generation == 1
        assert snapshot.info() == {
            "published_at": 1234.5,
            "run_id": "run",
            "model": MODEL,
            "dimension": DIMENSION,
            "pages": 2,
            "chunks": 3,
        }
        assert list(snapshot.pages()) == [
            replace(each.page, from_gen=1) for each in (second, first, gone)
        ]
        assert snapshot.page("b.example/x") == replace(first.page, from_gen=1)
        stored = [replace(second.chunks[0], embed_text=""), *first.chunks]
        assert list(snapshot.chunks()) == stored
        assert list(snapshot.chunks("b.example/x")) == first.chunks
        assert list(snapshot.chunks("other")) == []
        ids = [first.chunks[1].id, 17, second.chunks[0].id]
        assert snapshot.chunks_by_id(ids) == {
            first.chunks[1].id: first.chunks[1],
            second.chunks[0].id: stored[0],
        }
        vectors = list(snapshot.vectors())
        assert [number for number, _ in vectors] == sorted(piece.id for piece in stored)
        digests = {piece.id: piece.embed_digest for piece in stored}
        for number, row in vectors:
            assert row.dtype == np.float32
            assert np.array_equal(row, vector(digests[number]))
        assert snapshot.published_at(1) == 1234.5
        assert snapshot.published_at(2) == 0


def test_many_ids(corpus: Corpus) -> None:
    words = [f"word {number}" for number in range(1200)]
    whole = edit("a", *words)
    embed_and_publish(corpus, whole)
    with closing(corpus.snapshot()) as snapshot:
        found = snapshot.chunks_by_id([piece.id for piece in whole.chunks])
    assert found == {piece.id: piece for piece in whole.chunks}
    assert len(found) == 1200
    assert corpus.missing_vectors(MODEL, (f"d:{word}" for word in [*words, "no"])) == {"d:no"}


def test_only_what_differs_is_replaced(corpus: Corpus) -> None:
    embed_and_publish(corpus, edit("a", "one", "two"), edit("b", "three"))
    assert embed_and_publish(corpus, edit("a", "zero", "two"), edit("b", "three"), at=2000) == 2
    assert texts(corpus) == {"a": ["zero", "two"], "b": ["three"]}
    with closing(corpus.snapshot()) as snapshot:
        pages = {each.key: each.from_gen for each in snapshot.pages()}
        assert pages == {"a": 1, "b": 1}  # their own rows are equal
        assert snapshot.published_at(1) == 1000


@pytest.mark.parametrize(
    "fields",
    [
        {"digest": "other"},
        {"links_digest": "other"},
        {"title": "other"},
        {"url": "http://a/"},
        {"simhash": 3},
        {"changed_at": 5.0},
        {"content": "other"},
    ],
)
def test_any_field_makes_a_new_row(corpus: Corpus, fields: dict[str, Any]) -> None:
    embed_and_publish(corpus, edit("a", "one"))
    changed = edit("a", "one", **fields)
    assert embed_and_publish(corpus, changed) == 2
    with closing(corpus.snapshot()) as snapshot:
        assert snapshot.page("a") == replace(changed.page, from_gen=2)


@pytest.mark.parametrize(
    "fields", [{"ordinal": 4}, {"anchor": "other"}, {"heading_path": ["Other"]}, {"text": "other"}]
)
def test_chunk_is_refreshed_with_its_id(corpus: Corpus, fields: dict[str, Any]) -> None:
    before = edit("a", "one")
    embed_and_publish(corpus, before)
    after = Edit(before.page, [replace(before.chunks[0], **fields)])
    assert publish(corpus, after) == 2
    with closing(corpus.snapshot()) as snapshot:
        assert list(snapshot.chunks()) == after.chunks
        assert snapshot.info()["chunks"] == 1


def test_nothing_new_is_no_generation(corpus: Corpus) -> None:
    assert publish(corpus, build=not_to_be_called) == 0
    edits = [edit("a", "one", "two"), Edit(page("b", status=Status.HIDDEN))]
    embed_and_publish(corpus, *edits)
    edits[0].page.from_gen = 99
    assert publish(corpus, *edits, at=2000, build=not_to_be_called) == 1
    with closing(corpus.snapshot()) as snapshot:
        assert snapshot.info()["published_at"] == 1000


def test_last_edit_of_a_page_counts(corpus: Corpus) -> None:
    assert embed_and_publish(corpus, edit("a", "one"), edit("a", "two")) == 1
    assert texts(corpus) == {"a": ["two"]}


@pytest.mark.parametrize("status", [Status.HIDDEN, Status.GONE, Status.ALIAS, Status.EXCLUDED])
def test_page_leaves_and_comes_back(corpus: Corpus, status: Status) -> None:
    embed_and_publish(corpus, edit("a", "one"), edit("b", "two"))
    left = edit("a", "one", status=status)
    assert publish(corpus, left) == 2
    assert texts(corpus) == {"b": ["two"]}
    with closing(corpus.snapshot()) as snapshot:
        row = snapshot.page("a")
        assert row is not None
        assert (row.status, row.from_gen) == (status, 2)
        assert (snapshot.info()["pages"], snapshot.info()["chunks"]) == (1, 1)
        assert snapshot.chunks_by_id([left.chunks[0].id]) == {}
    assert publish(corpus, edit("a", "one")) == 3
    assert texts(corpus) == {"a": ["one"], "b": ["two"]}


def test_build_sees_the_new_generation_before_anyone_else(corpus: Corpus) -> None:
    embed_and_publish(corpus, edit("a", "one"))
    seen: list[Any] = []

    def build(snapshot: Snapshot) -> None:
        seen.append((snapshot.generation, [piece.text for piece in snapshot.chunks()]))
        seen.append((snapshot.info()["chunks"], len(list(snapshot.vectors()))))
        seen.append(texts(corpus))
        snapshot.close()

    changed = edit("a", "one", "two")
    put_all_vectors(corpus, [changed])
    assert publish(corpus, changed, build=build) == 2
    assert seen == [(2, ["one", "two"]), (2, 2), {"a": ["one"]}]
    assert texts(corpus) == {"a": ["one", "two"]}


def test_build_that_raises_changes_nothing(corpus: Corpus) -> None:
    embed_and_publish(corpus, edit("a", "one"))
    changed = edit("a", "two")
    put_all_vectors(corpus, [changed])

    def build(snapshot: Snapshot) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        publish(corpus, changed, build=build)
    assert texts(corpus) == {"a": ["one"]}
    assert publish(corpus, changed) == 2
    assert texts(corpus) == {"a": ["two"]}


def test_chunk_without_vector_is_refused(corpus: Corpus) -> None:
    embed_and_publish(corpus, edit("a", "one"))
    with pytest.raises(StoreError, match="1 live chunks have no vector of model@1"):
        publish(corpus, edit("a", "two"), build=not_to_be_called)
    corpus.put_vectors(MODEL, {"d:two": vector("d:two", dimension=3)})
    with pytest.raises(StoreError, match="no vector"):
        publish(corpus, edit("a", "two"), build=not_to_be_called)
    assert texts(corpus) == {"a": ["one"]}


def test_other_model_is_a_new_generation_and_needs_all_vectors(corpus: Corpus) -> None:
    edits = [edit("a", "one"), edit("b", "two")]
    embed_and_publish(corpus, *edits)
    put_all_vectors(corpus, edits[:1], model="other")
    with pytest.raises(StoreError, match="1 live chunks have no vector of other"):
        publish(corpus, *edits, model="other")
    put_all_vectors(corpus, edits, model="other")
    assert publish(corpus, model="other") == 2
    with closing(corpus.snapshot()) as snapshot:
        assert snapshot.info()["model"] == "other"
        assert len(list(snapshot.vectors())) == 2


def test_old_snapshot_stays_whole(corpus: Corpus) -> None:
    embed_and_publish(corpus, edit("a", "one"), edit("b", "two"))
    with closing(corpus.snapshot()) as old:
        embed_and_publish(corpus, edit("a", "three"), edit("b", status=Status.GONE), at=2000)
        retain(corpus, 1, 5000)
        assert old.generation == 1
        assert [piece.text for piece in old.chunks()] == ["one", "two"]
        assert [each.status for each in old.pages()] == [Status.LIVE] * 2
        assert len(list(old.vectors())) == old.info()["chunks"] == 2
        assert old.published_at(2) == 0
    assert texts(corpus) == {"a": ["three"]}


def test_durable_across_reopening(reopen: Opener) -> None:
    first = reopen()
    first.put_content({"c": b"body" * 1000})
    embed_and_publish(first, edit("a", "one", content="c"))
    first.close()
    second = reopen()
    assert texts(second) == {"a": ["one"]}
    assert second.get_content("c") == b"body" * 1000
    assert second.missing_vectors(MODEL, ["d:one", "d:two"]) == {"d:two"}
    second.close()


def test_vectors_are_kept_by_model(corpus: Corpus) -> None:
    corpus.put_vectors(MODEL, {})
    corpus.put_vectors(MODEL, {"x": vector("x")})
    corpus.put_vectors("other", {"y": vector("y")})
    assert corpus.missing_vectors(MODEL, ["x", "y", "x"]) == {"y"}
    assert corpus.missing_vectors("other", ["x", "y"]) == {"x"}
    assert corpus.missing_vectors("other", []) == set()


def test_vector_can_be_put_again(corpus: Corpus) -> None:
    corpus.put_vectors(MODEL, {"d:one": np.zeros(DIMENSION, dtype=np.float32)})
    embed_and_publish(corpus, edit("a", "one"))
    with closing(corpus.snapshot()) as snapshot:
        assert np.array_equal(next(snapshot.vectors())[1], vector("d:one"))


def test_content(corpus: Corpus) -> None:
    corpus.put_content({"empty": b"", "bytes": bytes(range(256))})
    corpus.put_content({"empty": b""})
    assert corpus.get_content("empty") == b""
    assert corpus.get_content("bytes") == bytes(range(256))
    assert corpus.get_content("other") is None


def test_retain_keeps_the_newest_and_dates_of_what_stands(corpus: Corpus) -> None:
    embed_and_publish(corpus, edit("old", "stands"), edit("a", "text 0"), at=100)
    for number in range(1, 5):
        embed_and_publish(corpus, edit("a", f"text {number}", title=str(number)), at=100 + number)
    assert retain(corpus, 2, 0) == [4, 5]
    assert retain(corpus, 3, 0) == [4, 5]
    with closing(corpus.snapshot()) as snapshot:
        assert [each.from_gen for each in snapshot.pages()] == [5, 1]
        assert [snapshot.published_at(n) for n in range(1, 6)] == [100, 0, 0, 103, 104]
    assert texts(corpus) == {"a": ["text 4"], "old": ["stands"]}
    assert retain(corpus, 0, 0) == [5]


def test_retain_drops_vectors_by_last_use(corpus: Corpus) -> None:
    embed_and_publish(corpus, edit("a", "one"), edit("b", "both"), edit("c", "both"), at=100)
    corpus.put_vectors(MODEL, {"d:staged": vector("d:staged")})
    embed_and_publish(corpus, edit("a", "two"), edit("b", status=Status.GONE), at=200)
    digests = ["d:one", "d:two", "d:both", "d:staged"]
    retain(corpus, 2, 1e9)
    assert corpus.missing_vectors(MODEL, digests) == set()  # generation 1 has them
    retain(corpus, 1, 200)
    assert corpus.missing_vectors(MODEL, digests) == set()  # used until 200
    retain(corpus, 1, 201)
    assert corpus.missing_vectors(MODEL, digests) == {"d:one"}
    retain(corpus, 1, 1e9)
    assert corpus.missing_vectors(MODEL, digests) == {"d:one"}


def test_retain_keeps_a_vector_that_is_staged_again(corpus: Corpus) -> None:
    embed_and_publish(corpus, edit("a", "one"), at=100)
    embed_and_publish(corpus, edit("a", "two"), at=200)
    corpus.put_vectors(MODEL, {"d:one": vector("d:one")})
    retain(corpus, 1, 1e9)
    assert publish(corpus, edit("a", "one"), at=300) == 3


def test_retain_drops_the_vectors_of_a_former_model(corpus: Corpus) -> None:
    edits = [edit("a", "one")]
    embed_and_publish(corpus, *edits, at=100)
    put_all_vectors(corpus, edits, model="other")
    publish(corpus, model="other", at=200)
    retain(corpus, 2, 1e9)
    assert corpus.missing_vectors(MODEL, ["d:one"]) == set()
    retain(corpus, 1, 1e9)
    assert corpus.missing_vectors(MODEL, ["d:one"]) == {"d:one"}
    assert corpus.missing_vectors("other", ["d:one"]) == set()


def test_retain_drops_content_with_its_last_row(corpus: Corpus) -> None:
    corpus.put_content({"one": b"1", "two": b"2", "staged": b"3", "again": b"4"})
    publish(corpus, Edit(page("a", content="one")), Edit(page("b", content="again")))
    publish(corpus, Edit(page("a", content="two")), Edit(page("b", content="two")))
    corpus.put_content({"again": b"4"})
    retain(corpus, 2, 0)
    assert corpus.get_content("one") == b"1"
    retain(corpus, 1, 0)
    kept = {name: corpus.get_content(name) for name in ("one", "two", "staged", "again")}
    assert kept == {"one": None, "two": b"2", "staged": b"3", "again": b"4"}


def test_older_generation_is_whole(corpus: Corpus) -> None:
    first = [edit("a", "one", "two", content="x"), edit("b", "three"), edit("c", "four")]
    embed_and_publish(corpus, *first, at=100)
    embed_and_publish(corpus, edit("a", "two", "new"), edit("d", "five"), at=200)
    embed_and_publish(corpus, Edit(page("b", status=Status.GONE)), edit("a", "new"), at=300)
    with closing(corpus.snapshot(1)) as old:
        assert (old.generation, old.generations()) == (1, [1, 2, 3])
        info = {"published_at": 100, "run_id": "run", "model": MODEL, "dimension": DIMENSION}
        assert old.info() == {**info, "pages": 3, "chunks": 4}
        assert list(old.pages()) == [replace(each.page, from_gen=1) for each in first]
        stored = [piece for each in first for piece in each.chunks]
        assert list(old.chunks()) == stored
        assert list(old.chunks("a")) == first[0].chunks
        assert old.page("a") == replace(first[0].page, from_gen=1)
        assert old.page("d") is None
        assert old.chunks_by_id([piece.id for piece in stored]) == {p.id: p for p in stored}
        vectors = dict(old.vectors())
        assert {n: row.tolist() for n, row in vectors.items()} == {
            piece.id: vector(piece.embed_digest).tolist() for piece in stored
        }
    with closing(corpus.snapshot(2)) as middle:
        assert [piece.text for piece in middle.chunks()] == ["two", "new", "three", "four", "five"]
    with closing(corpus.snapshot(3)) as current:
        assert [piece.text for piece in current.chunks()] == ["new", "four", "five"]
        assert current.generation == 3


@pytest.mark.parametrize("generation", [0, 1, 4])
def test_generation_that_is_not_kept_is_refused(corpus: Corpus, generation: int) -> None:
    for number in range(3):
        embed_and_publish(corpus, edit("a", f"text {number}"))
    assert retain(corpus, 2, 0) == [2, 3]
    with pytest.raises(StoreError, match=f"generation {generation} is not kept; kept: 2, 3"):
        corpus.snapshot(generation)


def test_generations_with_distrusted_chunks_are_not_kept(reopen: Opener) -> None:
    corpus = reopen()
    embed_and_publish(corpus, edit("a/", "old"))
    embed_and_publish(corpus, edit("a/", "wrong"), edit("b/", "stands"))
    embed_and_publish(corpus, edit("b/", "other"))
    put_all_vectors(corpus, [edit("a/", "right")])
    generation = corpus.publish(
        [edit("a/", "right")], run_id="repair", model=MODEL, dimension=DIMENSION,
        published_at=1000.0, build=lambda snapshot: None, distrust=True,
    )  # fmt: skip
    corpus.close()
    with closing(reopen()) as corpus, closing(corpus.snapshot()) as snapshot:
        assert (generation, snapshot.generations()) == (4, [1, 4])


def test_withdrawn_page_has_no_row(corpus: Corpus) -> None:
    embed_and_publish(corpus, edit("a", "one"), edit("b", "two"), at=100)
    publication: dict[str, Any] = {"run_id": "r", "model": MODEL, "dimension": DIMENSION}
    number = corpus.publish(
        [], **publication, published_at=200, build=lambda snapshot: None, withdrawn={"b", "none"}
    )
    assert (number, texts(corpus)) == (2, {"a": ["one"]})
    with closing(corpus.snapshot()) as snapshot:
        assert [each.key for each in snapshot.pages()] == ["a"]
        assert [(v.page.from_gen, v.to_gen, v.left_at) for v in snapshot.versions("b")] == [
            (1, 2, 200)
        ]
    embed_and_publish(corpus, edit("a", "three"), at=300)
    retain(corpus, 1, 0, versions=2)
    assert spans(corpus, "b") == [(1, 2, 100, 200)]  # the date at which it left stays known


def test_rollback_is_noted_with_the_switch(reopen: Opener) -> None:
    first = reopen()
    embed_and_publish(first, edit("a", "one"))
    with closing(first.snapshot()) as snapshot:
        assert snapshot.rollback() is None
    noted = Rollback(2, of=1, before=1, origin=1, at=5.0)
    publication: dict[str, Any] = {"run_id": "r", "model": MODEL, "dimension": DIMENSION}

    def fail(snapshot: Snapshot) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        first.publish([], **publication, published_at=5, build=fail, rollback=noted)
    with closing(first.snapshot()) as snapshot:
        assert (snapshot.rollback(), snapshot.generation) == (None, 1)
    built: list[int] = []
    number = first.publish(
        [],
        **publication,
        published_at=5,
        build=lambda snapshot: built.append(snapshot.generation),
        rollback=noted,
    )
    assert (number, built) == (2, [2])  # though nothing differs
    first.close()
    second = reopen()
    with closing(second.snapshot()) as snapshot:
        assert snapshot.rollback() == noted
    second.release(7.0)
    second.release(9.0)
    with closing(second.snapshot()) as snapshot:
        assert snapshot.rollback() == replace(noted, pinned=False, released_at=7.0)
    second.close()


def spans(corpus: Corpus, key: str) -> list[tuple[int, int | None, float, float]]:
    with closing(corpus.snapshot()) as snapshot:
        found = snapshot.versions(key)
    return [(v.page.from_gen, v.to_gen, v.published_at, v.left_at) for v in found]


def publish_versions(corpus: Corpus, number: int) -> None:
    """Publish as many versions of a page, at 100, 200 and so on, and one of another page."""
    for n in range(1, number + 1):
        corpus.put_content({f"content {n}": str(n).encode()})
        changed = [edit("a", f"text {n}", title=str(n), content=f"content {n}")]
        others = [edit("stands", "for ever")] if n == 1 else []
        embed_and_publish(corpus, *changed, *others, at=100.0 * n)


def kept_content(corpus: Corpus, number: int) -> list[int]:
    return [n for n in range(1, number + 1) if corpus.get_content(f"content {n}") is not None]


def test_versions_newest_first(corpus: Corpus) -> None:
    publish_versions(corpus, 3)
    assert spans(corpus, "a") == [(3, None, 300, 0), (2, 3, 200, 300), (1, 2, 100, 200)]
    assert spans(corpus, "stands") == [(1, None, 100, 0)]
    assert spans(corpus, "none") == []


def test_texts_of_all_versions_each_once(corpus: Corpus) -> None:
    for digest in ("1", "2", "1"):
        embed_and_publish(corpus, edit("a", digest, digest=digest), edit("b", "x", digest="x"))
    embed_and_publish(corpus, edit("b", "x", digest="x", url="https://b/"))
    with closing(corpus.snapshot()) as snapshot:
        assert list(snapshot.texts()) == [
            ("a", "https://a", "1"),
            ("a", "https://a", "2"),
            ("b", "https://b", "x"),
            ("b", "https://b/", "x"),
        ]
        assert not snapshot.forgotten()


def test_versions_outlive_their_chunks_up_to_a_number(corpus: Corpus) -> None:
    publish_versions(corpus, 6)
    assert retain(corpus, 1, 0, versions=3) == [6]
    assert spans(corpus, "a") == [(6, None, 600, 0), (5, 6, 500, 600), (4, 5, 400, 500)]
    assert kept_content(corpus, 6) == [4, 5, 6]
    assert texts(corpus) == {"a": ["text 6"], "stands": ["for ever"]}
    assert spans(corpus, "stands") == [(1, None, 100, 0)]  # its date stays known
    with closing(corpus.snapshot()) as snapshot:
        assert [snapshot.published_at(n) for n in range(1, 5)] == [100, 0, 0, 400]


def test_versions_of_kept_generations_stay(corpus: Corpus) -> None:
    publish_versions(corpus, 6)
    retain(corpus, 4, 0, versions=1, left_since=1e9)
    assert [span[0] for span in spans(corpus, "a")] == [6, 5, 4, 3]
    assert kept_content(corpus, 6) == [3, 4, 5, 6]


def test_versions_go_by_age(corpus: Corpus) -> None:
    publish_versions(corpus, 6)
    retain(corpus, 1, 0, versions=9, left_since=400)  # the third left at 400
    assert [span[0] for span in spans(corpus, "a")] == [6, 5, 4, 3]
    retain(corpus, 1, 0, versions=9, left_since=401)
    assert [span[0] for span in spans(corpus, "a")] == [6, 5, 4]


def test_lower_number_of_versions_counts_for_pages_that_do_not_change(corpus: Corpus) -> None:
    publish_versions(corpus, 5)
    retain(corpus, 1, 0, versions=4)
    embed_and_publish(corpus, edit("other", "x"), at=900)
    retain(corpus, 1, 0, versions=4)
    assert len(spans(corpus, "a")) == 4
    retain(corpus, 1, 0, versions=2)
    assert len(spans(corpus, "a")) == 2


def test_page_that_changes_at_every_run_takes_bounded_room(corpus: Corpus) -> None:
    for n in range(1, 30):
        corpus.put_content({f"content {n}": str(n).encode()})
        embed_and_publish(corpus, edit("a", f"text {n}", content=f"content {n}"), at=100.0 * n)
        retain(corpus, 3, 0, versions=4)
        assert len(spans(corpus, "a")) <= 4
    assert kept_content(corpus, 30) == [26, 27, 28, 29]


def test_what_changed_since_a_generation(corpus: Corpus) -> None:
    """By the rows of the generations themselves, as long as these are kept."""
    publication: dict[str, Any] = {
        "run_id": "run",
        "model": MODEL,
        "dimension": DIMENSION,
        "published_at": 1.0,
    }
    embed_and_publish(corpus, edit("a", "one"), edit("b", "one"), edit("c", "one"))
    embed_and_publish(corpus, edit("a", "two", digest="2"), Edit(page("b", status="gone")))
    corpus.publish([], build=lambda snapshot: None, withdrawn={"c"}, **publication)
    embed_and_publish(corpus, edit("a", "one"), edit("d", "new"))
    rows: dict[int, dict[str, Published]] = {0: {}}
    for number in range(1, 5):
        with closing(corpus.snapshot(number)) as snapshot:
            rows[number] = {row.key: row for row in snapshot.pages()}
    with closing(corpus.snapshot()) as snapshot:
        for number, before in rows.items():
            pairs = list(snapshot.changed_since(number))
            expected = [
                (before.get(key), rows[4].get(key))
                for key in sorted({"a", "b", "c", "d"})
                if before.get(key) != rows[4].get(key) or (number == 0 and key == "c")
            ]
            assert pairs == expected, number
