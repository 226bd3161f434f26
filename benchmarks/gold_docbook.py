"""Gold from DocBook 5, as Asciidoctor makes it of AsciiDoc."""

from __future__ import annotations

from lxml import etree

from benchmarks.corpus import Gold
from benchmarks.gold_element import block_texts

_ID = "{http://www.w3.org/XML/1998/namespace}id"
_CODE = ("screen", "programlisting")
_SECTIONS = frozenset({"section", "refsection", "refsynopsisdiv", "article", "chapter", "appendix"})
_BOXES = frozenset({
    "title", "simpara", "para", "term", "listitem", "screen", "programlisting", "literallayout",
    "entry", "row", "refnamediv", "blockquote", "figure", "caption", "formalpara", "note", "tip",
    "warning", "important", "caution", "sidebar", "footnote", "varlistentry", "attribution",
})  # fmt: skip


def gold_of_docbook(source: str, *, title: str = "") -> Gold:
    """Return the gold of a page; ``title`` is what it puts first, if not the document's own."""
    root = etree.fromstring(source.encode())
    for el in root.iter("{*}*"):
        el.tag = etree.QName(el).localname
    title = title or (root.findtext("info/title") or "")
    for name in ("info", "refmeta", "indexterm"):
        for el in list(root.iter(name)):
            _empty(el)
    for el in root.iter("refname"):
        el.tail = " - "
    for el in root.iter("co"):  # marks of callouts; HTML shows their numbers
        el.text = f"({(el.get(_ID) or '').rpartition('-')[2]})"
    for el in root.iter("citerefentry"):
        el.text, el[0].tail = "", ""
        el[1].text, el[1].tail = f"({el[1].text})", ""
    gold = Gold([title] if title else [], source="AsciiDoc, by way of DocBook")
    gold.headings += gold.text
    gold.text += block_texts(root, _BOXES)
    for el in root.iter("title"):
        around = el.getparent()
        if around is not None and around.tag in _SECTIONS:
            gold.headings.append(_line(el))
    gold.code = ["".join(el.itertext()) for name in _CODE for el in root.iter(name)]
    gold.rows = [[_line(cell) for cell in row.iter("entry")] for row in root.iter("row")]
    return gold


def _line(el: etree._Element) -> str:
    return " ".join("".join(map(str, el.itertext())).split())


def _empty(el: etree._Element) -> None:
    tail = el.tail
    el.clear()
    el.tail = tail
