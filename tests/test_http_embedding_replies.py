"""Replies of an embeddings endpoint: which vectors are taken, which words are shown."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshcrawl.stores.embedding_reply import (
    WORDS_CHARS,
    ReplyError,
    is_passing,
    read_vectors,
    refusal,
    server_words,
)


def reply(*vectors: Any, **more: Any) -> bytes:
    items = [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    return json.dumps({"object": "list", "data": items, **more}).encode()


def packed(*numbers: float) -> str:
    return base64.b64encode(np.array(numbers, "<f4").tobytes()).decode()


@pytest.mark.parametrize(
    ("vector", "row"),
    [
        ([3, 4], [0.6, 0.8]),
        ([0.6, -0.8], [0.6, -0.8]),
        ([1e300, 0], None),
        ([1e150, 1e150], [0.70710678, 0.70710678]),
        ([1e-29, 1e-29], [0.70710678, 0.70710678]),
        ([1e-31, 0], None),
        (packed(3, 4), [0.6, 0.8]),
        (packed(float("nan"), 4), None),
    ],
)
def test_rows_have_the_length_1(vector: Any, row: list[float] | None) -> None:
    if row is None:
        with pytest.raises(ReplyError, match=r"zeros|too large|none, or infinite"):
            read_vectors(reply(vector), 1)
        return
    found = read_vectors(reply(vector), 1)
    assert found.dtype == np.float32
    assert found[0].tolist() == pytest.approx(row)


def test_unit_vectors_stay_as_they_are() -> None:
    rows = np.random.default_rng(1).normal(size=(50, 384)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    assert np.array_equal(read_vectors(reply(*rows.tolist()), 50), rows)


@pytest.mark.parametrize(
    ("body", "count", "message"),
    [
        (b"", 1, "no JSON"),
        (b"[" * 100_000, 1, "no JSON"),
        (b'{"data": [{"embedding": [\xff]}]}', 1, "no JSON"),
        (b'{"data": [{"embedding": [1' + b"0" * 5_000 + b"]}]}", 1, "no JSON"),
        (b"[]", 1, "no list of embeddings"),
        (b"null", 1, "no list of embeddings"),
        (b'{"data": {}}', 1, "no list of embeddings"),
        (b'{"data": [[1, 2]]}', 1, "no list of embeddings"),
        (b'{"data": [{}]}', 1, "no list of numbers"),
        (b'{"data": [{"embedding": {"a": 1}}]}', 1, "no list of numbers"),
        (b'{"data": [{"embedding": [true, false]}]}', 1, "no list of numbers"),
        (b'{"data": [{"embedding": [[1, 2]]}]}', 1, "no list of numbers"),
        (b'{"data": [{"embedding": [1' + b"0" * 400 + b"]}]}", 1, "infinite"),
        (b'{"data": [{"embedding": [1e999]}]}', 1, "infinite"),
        (b'{"data": [{"embedding": "AAA"}]}', 1, "no base64"),
        (b'{"data": [{"embedding": "AAAA"}]}', 1, "no base64"),
        (b'{"data": [{"embedding": ""}]}', 1, "vectors of 0 numbers"),
        (b'{"data": [{"index": 1, "embedding": [1]}]}', 1, "a vector of text 1, of 1 text from 0"),
        (b'{"data": [{"index": -1, "embedding": [1]}]}', 1, "a vector of text -1"),
        (b'{"data": [{"index": "0", "embedding": [1]}]}', 1, "without the index"),
        (b'{"data": [{"index": 0.0, "embedding": [1]}]}', 1, "without the index"),
        (b'{"data": [{"index": true, "embedding": [1]}]}', 1, "without the index"),
        (b'{"data": []}', 1, "0 vectors for 1 text"),
        (b'{"data": [{"embedding": [1]}, {"embedding": [1]}]}', 2, "without the index"),
    ],
)
def test_replies_that_are_not_taken(body: bytes, count: int, message: str) -> None:
    with pytest.raises(ReplyError, match=message) as caught:
        read_vectors(body, count)
    assert caught.value.again


def test_one_vector_needs_no_index() -> None:
    assert read_vectors(b'{"data": [{"embedding": [0, 2]}]}', 1).tolist() == [[0, 1]]


def test_another_length_of_all_vectors_is_no_accident() -> None:
    assert read_vectors(reply([1, 0], [0, 1]), 2, 2).shape == (2, 2)
    for vectors, again in ((([1, 0], [0, 1]), False), (([1, 0], [0, 0, 1]), True)):
        with pytest.raises(ReplyError, match="vectors of 2") as caught:
            read_vectors(reply(*vectors), 2, 3)
        assert caught.value.again is again


@given(st.permutations(range(5)))
def test_order_is_that_of_the_indexes(order: list[int]) -> None:
    vectors = np.eye(5)
    items = [{"index": index, "embedding": vectors[index].tolist()} for index in order]
    assert np.array_equal(read_vectors(json.dumps({"data": items}).encode(), 5), vectors)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
ITEM = st.fixed_dictionaries({}, optional={"index": JSON, "embedding": JSON})


@given(st.fixed_dictionaries({}, optional={"data": JSON | st.lists(ITEM), "error": JSON}))
def test_any_reply_is_taken_or_refused(content: Any) -> None:
    body = json.dumps(content).encode()
    try:
        found = read_vectors(body, 2)
    except ReplyError as error:
        said = str(error)
    else:
        assert np.linalg.norm(found, axis=1) == pytest.approx([1, 1], abs=1e-5)
        said = ""
    assert said.isprintable()
    words = server_words(body, "secret")
    assert len(words) <= WORDS_CHARS
    assert len(words.splitlines()) <= 1


# -- the server's own words ----------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"error": {"message": "no such model", "type": "x"}}, "no such model"),
        ({"error": "no such model", "error_type": "x"}, "no such model"),
        ({"error": {"message": None}, "message": "busy"}, "busy"),
        ({"message": "busy"}, "busy"),
        ({"object": "error", "message": "busy"}, "busy"),
        ({"detail": "Not Found"}, "Not Found"),
        ({"detail": [{"loc": ["body"], "msg": "field required"}]}, "field required"),
        ({"error": {"message": "two\r\n lines\x1b[31m\u2028and\u202e\x00 more"}}, None),
        ({"error": {"message": ["a"]}}, ""),
        ({"error": 5, "detail": []}, ""),
        (["no such model"], ""),
        ("no such model", ""),
        (None, ""),
    ],
)
def test_where_a_server_says_what_is_wrong(content: Any, words: str | None) -> None:
    found = server_words(json.dumps(content).encode(), "")
    assert found == ("two lines [31m and more" if words is None else words)


def test_what_is_no_json_has_no_words() -> None:
    assert server_words(b"<h1>502 Bad Gateway</h1>", "") == ""
    assert server_words(b"", "") == ""


def test_long_words_are_cut() -> None:
    found = server_words(json.dumps({"error": "a" * 500}).encode(), "")
    assert found == "a" * (WORDS_CHARS - 3) + "..."


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("key sk-12345678-abcdefgh is wrong", "key *** is wrong"),
        ("key SK-12345678-ABCDEFGH is wrong", "key *** is wrong"),
        ("got 'Bearer sk-12345678-abcdefgh'", "got 'Bearer ***'"),
        ("key sk-12345... is wrong", "key *** is wrong"),
        ("key ****abcdefgh is wrong", "key *** is wrong"),
        ("key=x-sk-12345678-abcdefgh-y", "key=x-***-y"),
        ("it ends with efgh", "it ends with efgh"),
    ],
)
def test_the_key_is_not_shown(said: str, shown: str) -> None:
    body = json.dumps({"error": {"message": said}}).encode()
    assert server_words(body, "sk-12345678-abcdefgh") == shown


def test_the_key_is_not_shown_where_words_are_cut() -> None:
    for length in range(150, 205):
        body = json.dumps({"error": "a " * (length // 2) + "sk-12345678-abcdefgh"}).encode()
        assert "sk-" not in server_words(body, "sk-12345678-abcdefgh")


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1), st.text())
def test_no_key_is_shown_whatever_is_said(key: str, around: str) -> None:
    body = json.dumps({"error": f"{around}{key}{around}"}).encode()
    shown = server_words(body, key)
    assert key not in shown.replace("***", "")


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (301, "answered 301, a redirect, which is not followed: look at FRESHCRAWL_EMBED_URL"),
        (401, "answered 401 (words): look at FRESHCRAWL_EMBED_API_KEY"),
        (410, "answered 410 (words)"),
        (413, "answered 413 (words) to one text of 5,000 characters: look at FRESH"),
        (500, "answered 500 (words)"),
    ],
)
def test_what_a_status_means(status: int, said: str) -> None:
    assert refusal(status, "words", 5_000).startswith(said)
    assert is_passing(status) == (status == 500)
