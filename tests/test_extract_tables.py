"""Tables of data, and tables that are layout."""

# ruff: noqa: E501  (markup is easier to compare in one piece)
from __future__ import annotations

import pytest

from freshcrawl.extract import extract

URL = "https://docs.test/page.html"
HEAD = "<thead><tr><th>Name</th><th>Use</th></tr></thead>"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        (f"<table>{HEAD}<tbody><tr><td><p>a</p></td><td><code>x|y</code></td></tr></tbody></table>",
         "| Name | Use |\n| --- | --- |\n| a | `x\\|y` |"),
        ("<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>",
         "| A | B |\n| --- | --- |\n| 1 | 2 |"),
        ("<table><tr><td>1</td><td>2</td></tr></table>", "|  |  |\n| --- | --- |\n| 1 | 2 |"),
        ("<table><tr><th>k</th><td>v</td></tr></table>", "|  |  |\n| --- | --- |\n| k | v |"),
        (f"<table><caption>Cap</caption>{HEAD}<tr><td>a</td></tr></table>",
         "**Cap**\n\n| Name | Use |\n| --- | --- |\n| a |  |"),
        (f"<table>{HEAD}<tr><td colspan='2'>wide</td></tr><tr><td></td><td></td></tr></table>",
         "| Name | Use |\n| --- | --- |\n| wide |  |"),
        (f"<table>{HEAD}<tr><td rowspan='2'>a</td><td>1</td></tr><tr><td>2</td></tr></table>",
         "| Name | Use |\n| --- | --- |\n| a | 1 |\n| a | 2 |"),
        (f"<table>{HEAD}<tr><td>a<br>b</td><td><ul><li>x</li><li>y</li></ul></td></tr></table>",
         "| Name | Use |\n| --- | --- |\n| a b | - x - y |"),
        # layout
        ("<table><tr><td><p>a</p><p>b</p></td></tr></table>", "a\n\nb"),
        ("<table><tr><td>left</td><td><table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td>"
         "</tr></table></td></tr></table>", "left\n\n| A | B |\n| --- | --- |\n| 1 | 2 |"),
        ("<table><tr><td>one</td><td><pre>a\nb</pre></td></tr></table>", "one\n\n```\na\nb\n```"),
        ("<table role='presentation'><tr><td>a</td><td>b</td></tr></table>", "a\n\nb"),
        ("<table class='hlist'><tr><td><ul><li>a<li>b</ul></td><td><ul><li>c</ul></td></tr></table>",
         "- a\n- b\n\n- c"),
        ("<table><tr><td><h2>Left</h2></td><td>x</td></tr></table>", "## Left\n\nx"),
        # Doxygen: headings part the table
        ("<table class='memberdecls'><tr class='heading'><td colspan='2'><h2>Functions</h2></td></tr>"
         "<tr><td class='memItemLeft'>int</td><td>f (int a)</td></tr></table>",
         "## Functions\n\n|  |  |\n| --- | --- |\n| int | f (int a) |"),
        # Javadoc
        ("<div class='summary-table two-column-summary'><div class='table-header col-first'>Class"
         "</div><div class='table-header col-last'>Description</div><div class='col-first'>A</div>"
         "<div class='col-last'><div class='block'>Does a.</div></div></div>",
         "| Class | Description |\n| --- | --- |\n| A | Does a. |"),
    ],
)  # fmt: skip
def test_table(html, markdown):
    assert extract(html, URL).markdown == markdown


def test_links_in_cells():
    html = f"<table>{HEAD}<tr><td><a href='a|b'>a</a></td><td>x</td></tr></table>"
    (block,) = extract(html, URL).blocks
    assert block.text.endswith("| [a](https://docs.test/a%7Cb) | x |")
    assert block.bare.endswith("| a | x |")


def test_columns_are_not_padded_so_one_cell_changes_one_line():
    def lines(cell):
        html = (
            f"<table>{HEAD}<tr><td>a</td><td>b</td></tr><tr><td>{cell}</td><td>c</td></tr></table>"
        )
        return extract(html, URL).markdown.split("\n")

    pairs = zip(lines("x"), lines("much longer"), strict=True)
    assert [old == new for old, new in pairs] == [True, True, True, False]


@pytest.mark.parametrize("span", ["0", "-1", "x", "99999999999999999999"])
def test_odd_spans_do_no_harm(span):
    html = f"<table>{HEAD}<tr><td rowspan='{span}' colspan='{span}'>a</td><td>b</td></tr></table>"
    assert "| a |" in extract(html, URL).markdown
