"""Embedding batch by batch: what is tried again, what is given up, and what is never kept."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from freshcrawl import embedding
from freshcrawl.config import Config
from freshcrawl.embedding import Embedding, PublishInterrupted
from freshcrawl.stores.base import EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from freshcrawl.stores.base import Matrix

TEXTS = {f"d{n}": "x" * (9 - n) for n in range(7)}


class Scripted:
    """An embedder that answers each call with the next of ``answers``, then well."""

    model, dimension = "scripted", 3

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[list[str]] = []

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return the next answer."""
        self.asked.append(list(texts))
        answer = self.answers.pop(0) if self.answers else None
        if isinstance(answer, Exception):
            raise answer
        if answer is not None:
            return np.asarray(answer, dtype=np.float32)
        return np.tile(np.asarray([0.6, 0.8, 0.0], dtype=np.float32), (len(texts), 1))


class Kept(dict[str, Any]):
    """What was kept, and in how many batches."""

    batches = 0

    def keep(self, vectors: dict[str, Any]) -> None:
        """Take a batch."""
        assert not self.keys() & vectors.keys(), "kept twice"
        self.update(vectors)
        self.batches += 1


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits that were asked for; they take no time."""
    waits: list[float] = []
    monkeypatch.setattr(Embedding, "pause", lambda self, secs: waits.append(secs))
    return waits


def embed(embedder: Scripted, kept: Kept, dimension: int = 0, **settings: Any) -> Embedding:
    work = Embedding(Config(embed_batch=2, **settings))
    work.begin(len(TEXTS))
    work.embed(embedder, TEXTS, kept.keep, dimension)  # type: ignore[arg-type]
    return work


def busy(retry_after: float = 0.0) -> EmbeddingError:
    return EmbeddingError("busy", again=True, retry_after=retry_after)


def test_texts_of_like_length_share_a_batch_and_each_is_kept_once() -> None:
    embedder, kept = Scripted(), Kept()
    work = embed(embedder, kept)
    assert [len(text) for batch in embedder.asked for text in batch] == [3, 4, 5, 6, 7, 8, 9]
    assert (kept.keys(), kept.batches) == (TEXTS.keys(), 4)
    assert (work.made, work.progress) == (7, (7, 7))


def test_a_failure_that_may_pass_is_tried_again_after_longer_and_longer(
    waited: list[float],
) -> None:
    embedder, kept = Scripted(None, busy(), busy(), busy()), Kept()
    embed(embedder, kept)
    assert waited == [1.0, 2.0, 4.0]
    assert kept.keys() == TEXTS.keys()
    assert embedder.asked[1] == embedder.asked[2] == embedder.asked[3] == embedder.asked[4]


def test_the_wait_that_is_asked_for_is_kept(waited: list[float]) -> None:
    embed(Scripted(busy(17.0)), Kept())
    assert waited == [17.0]


@pytest.mark.parametrize(
    ("answers", "settings", "why"),
    [
        ([busy()] * 5, {}, "busy"),
        ([busy()] * 2, {"embed_attempts": 2}, "busy"),
        ([EmbeddingError("no such key")], {}, "no such key"),
        ([busy(121.0)], {}, "asks for 121 s of peace, more than FRESHCRAWL_EMBED_MAX_WAIT_SECS"),
        ([np.ones((2, 4)) / 2], {}, r"shape \(2, 4\), not \(2, 3\)"),
        ([np.ones((1, 3))], {}, r"shape \(1, 3\)"),
        ([[[math.nan, 0, 1], [1, 0, 0]]], {}, "no directions"),
        ([[[math.inf, 0, 0], [1, 0, 0]]], {}, "no directions"),
        ([[[0, 0, 0], [1, 0, 0]]], {}, "no directions"),
        ([[[5, 0, 0], [1, 0, 0]]], {}, "no directions"),
    ],
)
def test_what_is_given_up_keeps_what_was_done_before(
    waited: list[float], answers: list[Any], settings: dict[str, Any], why: str
) -> None:
    embedder, kept = Scripted(None, *answers), Kept()
    with pytest.raises(EmbeddingError, match=why):
        embed(embedder, kept, **settings)
    assert kept.keys() == {"d6", "d5"}


def test_vectors_of_another_length_than_the_index_has_are_refused() -> None:
    with pytest.raises(EmbeddingError, match="scrapy reindex"):
        embed(Scripted(), Kept(), dimension=4)


def test_what_is_asked_to_stop_stops_after_its_batch_also_amid_a_wait() -> None:
    class Stops(Scripted):
        def encode(self, texts: Sequence[str]) -> Matrix:
            work.interrupt()
            return super().encode(texts)

    for embedder, kept_keys in ((Stops(), {"d6", "d5"}), (Stops(busy(60.0)), set[str]())):
        work, kept = Embedding(Config(embed_batch=2)), Kept()
        with pytest.raises(PublishInterrupted):
            work.embed(embedder, TEXTS, kept.keep)  # type: ignore[arg-type]
        assert kept.keys() == kept_keys


def test_waits_stay_within_their_limit(waited: list[float]) -> None:
    with pytest.raises(EmbeddingError, match="asks for 8 s"):
        embed(Scripted(*[busy()] * 9), Kept(), embed_attempts=9, embed_max_wait_secs=5.0)
    assert waited == [embedding.FIRST_WAIT_SECS * 2**n for n in range(3)]
