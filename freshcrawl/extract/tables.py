"""Tables: one line per row; tables that only lay out the page are walked through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freshcrawl.core.blocks import Block
from freshcrawl.extract import markup
from freshcrawl.extract.blocks import heading, strong
from freshcrawl.extract.dom import HEADINGS, Element, classes, first, has_class, tag_of
from freshcrawl.extract.inline import content

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from freshcrawl.extract.blocks import Scope

_LAYOUT_CLASSES = frozenset({"hlist"})  # Sphinx: a list in columns
_SPAN_MAX = 50
_GROUPS = frozenset({"thead", "tbody", "tfoot"})
_COLUMNS = {"two-column-summary": 2, "three-column-summary": 3, "four-column-summary": 4}


def table(el: Element, scope: Scope) -> list[Block]:
    """Return a table as blocks: its caption, then its rows, parted by headings among them."""
    rows = list(_rows(el))
    if _is_layout(el, rows):
        return [block for row in rows for cell in row for block in scope.walk(cell, scope.deeper())]
    blocks = _caption(el, scope)
    lines: list[list[str]] = []
    spans: dict[int, tuple[int, str]] = {}
    head = bool(rows) and _is_head(rows[0])
    for row in rows:
        titles = [title for cell in row for title in cell.iter(*HEADINGS)]
        if titles and len(row) == 1:
            blocks += _grid(lines, head=head)
            blocks += [block for title in titles for block in heading(title, scope)]
            lines, head = [], False
        else:
            lines.append(_line(row, spans, scope))
    return blocks + _grid(lines, head=head)


def summary_table(el: Element, scope: Scope) -> list[Block]:
    """Return Javadoc's table made of ``div`` cells."""
    width = next((_COLUMNS[token] for token in classes(el) if token in _COLUMNS), 2)
    cells = [_cell(child, scope) for child in el if tag_of(child) == "div"]
    lines = [cells[start : start + width] for start in range(0, len(cells), width)]
    head = len(el) > 0 and "table-header" in classes(el[0])
    return _grid(lines, head=head)


def _rows(el: Element) -> Iterator[list[Element]]:
    """Yield the cells of each row of this table, not of tables inside."""
    for group in el:
        for row in group if tag_of(group) in _GROUPS else [group]:
            if tag_of(row) == "tr":
                yield [cell for cell in row if tag_of(cell) in {"td", "th"}]


def _is_layout(el: Element, rows: Sequence[Sequence[Element]]) -> bool:
    if first(el, "table", "dl") is not None or el.get("role") in {"presentation", "none"}:
        return True
    if sum(map(len, rows)) <= 1 or has_class(el, _LAYOUT_CLASSES):
        return True
    if any("\n" in "".join(pre.itertext()).strip() for pre in el.iter("pre")):
        return True
    return any(
        tag_of(cell) == "td" and len(row) > 1 and first(cell, *HEADINGS) is not None
        for row in rows
        for cell in row
    )


def _is_head(row: Sequence[Element]) -> bool:
    parent = row[0].getparent() if row else None
    group = parent.getparent() if parent is not None else None
    in_head = group is not None and tag_of(group) == "thead"
    return bool(row) and (in_head or all(tag_of(cell) == "th" for cell in row))


def _caption(el: Element, scope: Scope) -> list[Block]:
    found = next((child for child in el if tag_of(child) == "caption"), None)
    return [] if found is None else strong(content(found, scope.style))


def _line(row: Sequence[Element], spans: dict[int, tuple[int, str]], scope: Scope) -> list[str]:
    """Return the cells of a row, those that reach down from rows above repeated."""
    line: list[str] = []
    for cell in row:
        _reach_down(line, spans)
        text, down = _cell(cell, scope), _span(cell, "rowspan")
        for column in range(_span(cell, "colspan")):
            if down > 1:
                spans[len(line)] = (down - 1, text if column == 0 else "")
            line.append(text if column == 0 else "")
    _reach_down(line, spans)
    return line


def _reach_down(line: list[str], spans: dict[int, tuple[int, str]]) -> None:
    while len(line) in spans:
        left, text = spans.pop(len(line))
        if left > 1:
            spans[len(line)] = (left - 1, text)
        line.append(text)


def _span(cell: Element, name: str) -> int:
    value = (cell.get(name) or "").strip()
    return min(int(value), _SPAN_MAX) if value.isdecimal() and value.strip("0") else 1


def _cell(cell: Element, scope: Scope) -> str:
    return markup.one_line(content(cell, scope.style)).replace("|", r"\|")


def _grid(lines: Sequence[Sequence[str]], *, head: bool) -> list[Block]:
    """Return the table block of some lines of cells, without empty lines and padding."""
    width = max(map(len, lines), default=0)
    filled = [line for line in lines if any(line)]
    if not filled:
        return []
    padded = [[*line, *[""] * (width - len(line))] for line in filled]
    rows = padded if head and any(lines[0]) else [[""] * width, *padded]
    rows.insert(1, ["---"] * width)
    return [Block("table", "\n".join(f"| {' | '.join(row)} |" for row in rows))]
