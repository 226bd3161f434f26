"""What may be noise in a text, and what is content for sure."""

from __future__ import annotations

import pytest

from freshcrawl.core.noise_tokens import anchor, targets, words

CASES = [
    # times
    ("Updated 2026-11-30.", ["time 2026-11-30"]),
    ("on 30 Nov 2026 at 10:03:22 UTC", ["time 30 Nov 2026 at 10:03:22 UTC"]),
    ("on November 3rd, 2026, it rained", ["time November 3rd, 2026"]),
    ("Mon, Nov 30 08:26:01 UTC 2026", ["time Mon, Nov 30 08:26:01 UTC 2026"]),
    ("2026-11-30T08:26:01.123Z ok", ["time 2026-11-30T08:26:01.123Z"]),
    (
        "30.11.2026 or 11/30/2026 or 30/11/26",
        ["time 30.11.2026", "time 11/30/2026", "time 30/11/26"],
    ),
    ("at 9:05 pm, Monday", ["time 9:05 pm, Monday"]),
    ("in May 2026 we may", ["time May 2026"]),
    (
        "3 days ago; an hour ago; yesterday",
        ["time 3 days ago", "time an hour ago", "time yesterday"],
    ),
    ("Sun and Sat are no days", []),
    # durations
    ("took 0.123 seconds", ["duration 0.123 seconds"]),
    ("a 3 min read, 2 h 5 min long", ["duration 3 min", "duration 2 h 5 min"]),
    # counts
    ("seen by 1,203 people", ["counter people 1,203 people"]),
    ("1 view, 2 views", ["counter view 1 view", "counter view 2 views"]),
    ("**12** and (13), 14. End", ["counter 12", "counter 13", "counter 14"]),
    # ids
    ("id 7f3a9cdeadbeef00", ["id 7f3a9cdeadbeef00"]),
    ("3fa85f64-5717-4562-b3fc-2c963f66afa6", ["id 3fa85f64-5717-4562-b3fc-2c963f66afa6"]),
    ("tok AbCdEfGh1jKlMn0pQrSt==.", ["id AbCdEfGh1jKlMn0pQrSt=="]),
    # content
    ("version 12 and v1.2 and 3.4 and Python 3", []),
    ("12% and 12 % and 12 per cent", []),
    ("$12, 12 USD, 12 \u20ac, USD 12", []),
    ("512 MB, 20 px, 50 Hz", []),
    ("x=4, 2*3, 2 * 3, a<5, n-1, utf8, 3rd, #12, -5", []),
    ("path/to/12 and 10.0.0.1:80 and 1/2", []),
    ("1. first\n2. second", []),
    ("`at 12:30 in 2026-11-30`", []),
    ("```\n12:30\n```\nand 12:31", ["time 12:31"]),
    ("https://example.org/2026-11-30/7f3a9cdeadbeef00", []),
    ("docs/guide/installation-of-things, getElementById, internationalization", []),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_words(text: str, expected: list[str]) -> None:
    found = words(text, "paragraph")
    assert [f"{token.name} {token.value}" for token in found.tokens] == expected
    for token in found.tokens:
        assert text[token.start : token.end] == token.value


@pytest.mark.parametrize("kind", ["code", "signature", "admonition", "heading"])
def test_no_words_of_these_kinds(kind: str) -> None:
    assert words("at 12:30 on 2026-11-30, 5 views", kind).tokens == ()


def test_in_tables_whole_cells_of_times() -> None:
    text = "| name | when | seen |\n| --- | --- | --- |\n| since 2026-11-30 | 2026-11-30 | 12 |"
    [token] = words(text, "table").tokens
    assert text[: token.start].endswith("since 2026-11-30 | ")


def test_the_rest_is_all_but_the_values() -> None:
    one, other = words("5 views at 12:30", "quote"), words("1 view at 1:00", "quote")
    assert one.rest == other.rest
    assert one.rest != words("5 views on 12:30", "quote").rest


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a](https://x.org/p?csrf=AbCdEfGh1jKlMn0pQrSt&page=3)", ["AbCdEfGh1jKlMn0pQrSt"]),
        ("[a](/s;sid=7f3a9cdeadbeef00/b)", ["7f3a9cdeadbeef00"]),
        ("[a](/b?t=1701331200123) AbCdEfGh1jKlMn0pQrSt", ["1701331200123"]),
        ("![alt](/img/7f3a9cdeadbeef00.png)", ["7f3a9cdeadbeef00"]),
        ("[a](/guide/installation?page=12345)", []),
        ("```\n[a](/x?id=7f3a9cdeadbeef00)\n```", []),
    ],
)
def test_targets(text: str, expected: list[str]) -> None:
    assert [token.value for token in targets(text, "paragraph").tokens] == expected
    assert targets(text, "code").tokens == ()


def test_anchor() -> None:
    found = anchor("id-7f3a9cdeadbeef00", "heading")
    assert [token.value for token in found.tokens] == ["7f3a9cdeadbeef00"]
    assert found.rest.startswith("id-")
    assert [t.value for t in anchor("7f3a9cdeadbeef00", "heading").tokens] == ["7f3a9cdeadbeef00"]
    assert anchor("installation", "heading").tokens == ()
