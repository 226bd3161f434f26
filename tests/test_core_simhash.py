"""simhash grades how alike two texts are."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshcrawl.core.simhash import hamming, simhash

PAGE = " ".join(
    f"Sentence {n} says that value {n * 7} is set by option {n * 3}." for n in range(99)
)
HASHES = st.integers(-(2**63), 2**63 - 1)


@pytest.mark.parametrize("text", ["", " \n", "--- ... ***"])
def test_text_without_words_is_zero(text: str) -> None:
    assert simhash(text) == 0


@given(st.text())
def test_fits_a_signed_64_bit_integer(text: str) -> None:
    assert -(2**63) <= simhash(text) < 2**63


def test_both_signs_occur() -> None:
    assert {simhash(f"word {n}") < 0 for n in range(20)} == {True, False}


def test_is_the_same_in_every_process() -> None:
    code = (
        "from freshcrawl.core.simhash import simhash; print(simhash('The quick brown fox jumps'))"
    )
    runs = {
        subprocess.check_output(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}
        )
        for seed in ("0", "1")
    }
    assert runs == {b"%d\n" % simhash("The quick brown fox jumps")}
    assert simhash("The quick brown fox jumps") == 6021643845264159972


@pytest.mark.parametrize("other", [PAGE.upper(), PAGE.replace(".", " ;\n")])
def test_case_and_punctuation_do_not_count(other: str) -> None:
    assert simhash(other) == simhash(PAGE)


def test_near_texts_are_near_and_others_are_far() -> None:
    edited = PAGE.replace("value 77", "value 78")
    other = " ".join(f"Chapter {n} tells how table {n * 5} joins view {n}." for n in range(99))
    assert hamming(simhash(PAGE), simhash(edited)) <= 6
    assert hamming(simhash(PAGE), simhash(other)) >= 16


def test_order_of_words_counts() -> None:
    assert simhash("a b c d e f") != simhash("f e d c b a")
    assert simhash("a b") != simhash("b a")


def test_text_without_spaces_has_words() -> None:
    text = "使用此函数可以打开一个新的数据库连接并返回其句柄"
    assert 0 < hamming(simhash(text * 3), simhash(text * 3 + "。错误")) < 20


@pytest.mark.parametrize(
    ("a", "b", "bits"), [(0, 0, 0), (0, -1, 64), (-1, 2**64 - 1, 0), (5, 6, 2)]
)
def test_hamming(a: int, b: int, bits: int) -> None:
    assert hamming(a, b) == bits


@given(HASHES, HASHES, HASHES)
def test_hamming_is_a_metric(a: int, b: int, c: int) -> None:
    assert hamming(a, b) == hamming(b, a)
    assert (hamming(a, b) == 0) == (a == b)
    assert hamming(a, c) <= hamming(a, b) + hamming(b, c)
