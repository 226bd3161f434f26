"""API signatures of Sphinx, Javadoc, rustdoc and Doxygen, each on one line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from freshcrawl.core.blocks import Block
from freshcrawl.extract import markup
from freshcrawl.extract.blocks import Scope, anchor_of
from freshcrawl.extract.code import code
from freshcrawl.extract.dom import HEADINGS, Element, classes, events, has_class, tag_of

if TYPE_CHECKING:
    from collections.abc import Iterator

LEVEL = 7
_ITEM_MAX = 300
"""A rustdoc item declaration that is longer stays a code block."""
_PREFIX = frozenset({"descclassname", "sig-prename"})
_NAME = frozenset({"descname", "sig-name", "element-name"})
_TEXINFO = ("deffn", "deftype", "defun", "defvar", "defvr", "defmac", "defop", "defspec")
_BODY = re.compile(r"\{\s*\n")
_APART = frozenset({"dd", "td", "tr", "br", "div"})
_APART_MARK = "\ufdd5"  # a non-character, which `dom.parse` takes out of every page
_TRAILING = re.compile(f",\\s*(?:{_APART_MARK}|\n)[\\s{_APART_MARK}]*([)\\]])")
_OPEN, _CLOSE = re.compile(r"([(\[]) (?=\S)"), re.compile(r"(?<!,) ([)\]])")
_COMMA = re.compile(r" ,")
_DECLARED = re.compile(
    r"^(?:[\w@]+(?:\([^)]*\))? )*?(?:struct|enum|trait|union|fn|class|interface|record) (\w+)"
)
_BEFORE_CALL = re.compile(r"([^\s(]+)\s*\(")


def is_signature_term(el: Element) -> bool:
    """Tell whether a ``dt`` is a signature: Sphinx's ``sig``, or its older ``descname``."""
    tokens = classes(el)
    if "sig" in tokens or any(token.startswith(_TEXINFO) for token in tokens):
        return True
    return any(has_class(child, _NAME) for child in el)


def rejoin(term: Element) -> None:
    """Put back into a signature what the parser moved out of it.

    Parameters on lines of their own are a ``dl`` in the ``dt``, which the
    parser ends before it; the rest of the signature then stands after it.
    """
    after = term.getnext()
    while after is not None and tag_of(after) not in {"dt", "dd"}:
        term.append(after)
        after = term.getnext()


def signature(el: Element, scope: Scope) -> list[Block]:
    """Return an element that is a signature as a block of inline code."""
    return _block(el, scope, anchor_of(el), LEVEL + scope.signatures)


def rust_header(el: Element, scope: Scope) -> list[Block]:
    """Return a rustdoc ``code-header``: h3 for ``impl``, h4 for what it holds."""
    anchor = anchor_of(el)
    return _block(el, scope, anchor, LEVEL + max(0, HEADINGS.index(tag_of(el)) - 2))


def rust_item(el: Element, scope: Scope) -> list[Block]:
    """Return a rustdoc item declaration: a signature, or code if it has a body or is long."""
    text = "".join(el.itertext())
    if len(text) > _ITEM_MAX or _BODY.search(text):
        return code(el, scope)
    return _block(el, scope, "", LEVEL)


def typedoc(el: Element, scope: Scope) -> list[Block]:
    """Return a signature of TypeDoc, or code if it is a declaration with a body or long."""
    if len("".join(el.itertext())) > _ITEM_MAX or _opens_body(el):
        return code(el, scope)
    return signature(el, scope)


def _opens_body(el: Element) -> bool:
    """Tell whether a line of the element ends in an opening brace."""
    before = ""
    for starts, child in events(el):
        if starts and tag_of(child) == "br" and before.rstrip().endswith("{"):
            return True
        before = ((child.text if starts else child.tail) or "").strip() or before
    return False


def _block(el: Element, scope: Scope, anchor: str, level: int) -> list[Block]:
    line = _one_line(el)
    if not line:
        return []
    text = markup.code_span(line)
    return [Block("signature", text, level=level, anchor=anchor, title=_title(el, anchor, line))]


def _one_line(el: Element) -> str:
    # Parameters on lines of their own are `dd`, table cells or line breaks; only after the last of
    # those a comma means nothing, as it does not in `(1,)` and `[E, ]**F`.
    text = _TRAILING.sub(r"\1", "".join(_pieces(el))).replace(_APART_MARK, " ")
    text = markup.one_line(text)
    return _COMMA.sub(",", _CLOSE.sub(r"\1", _OPEN.sub(r"\1", text)))


def _pieces(el: Element) -> Iterator[str]:
    for starts, child in events(el):
        if child is not el and tag_of(child) in _APART:
            yield _APART_MARK
        if starts:
            yield child.text or ""
        elif child is not el:
            yield child.tail or ""


def _title(el: Element, anchor: str, line: str) -> str:
    """Return the dotted name: from the id where that is one, else from the parts."""
    name = _part(el, _NAME)
    if name and anchor.rpartition(".")[2] == name and "-" not in anchor:
        return anchor
    if name:
        return _part(el, _PREFIX) + name
    if match := re.fullmatch(r"(?:\w+)\.([^.]+)", anchor):  # rustdoc: method.new
        return match[1]
    declared = _DECLARED.search(line) or _BEFORE_CALL.search(line)
    return declared[1] if declared else line


def _part(el: Element, names: frozenset[str]) -> str:
    found = (child for child in el.iter("span", "code", "tt") if has_class(child, names))
    part = next(found, None)
    return "" if part is None else "".join("".join(part.itertext()).split())
