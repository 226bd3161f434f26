"""A Sphinx extension that writes down what each page holds, from its resolved doctree.

It runs inside of the build, so that the doctree is the very one that the HTML
is made from: files are included, code is run, references have their text.
"""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes

SUFFIX = ".gold.json"
_SKIPPED = (
    nodes.comment, nodes.substitution_definition, nodes.meta, nodes.pending, nodes.system_message,
    nodes.colspec, addnodes.index, addnodes.tabular_col_spec, addnodes.only,
)  # fmt: skip
_LEAVES = (
    nodes.paragraph, nodes.title, nodes.subtitle, nodes.rubric, nodes.caption, nodes.term,
    nodes.field_name, nodes.attribution, nodes.line, nodes.math_block, nodes.option_group,
    nodes.compact_paragraph if hasattr(nodes, "compact_paragraph") else addnodes.compact_paragraph,
    nodes.description, nodes.label,
)  # fmt: skip
_ADMONITIONS = {
    "note": "Note", "warning": "Warning", "tip": "Tip", "important": "Important", "hint": "Hint",
    "caution": "Caution", "danger": "Danger", "error": "Error", "attention": "Attention",
    "seealso": "See also",
}  # fmt: skip


def setup(app: Any) -> dict[str, bool]:
    """Hook into the build."""
    app.connect("html-page-context", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write(app: Any, name: str, _template: str, _context: Any, doctree: Any) -> None:
    # Without Graphviz its source stands on the page; with it a picture.
    if doctree is not None and not any(n.tagname == "graphviz" for n in doctree.findall()):
        gold = DoctreeGold()
        gold.visit(doctree)
        path = Path(app.outdir) / (name + SUFFIX)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(gold.__dict__, ensure_ascii=False), encoding="utf-8")


class DoctreeGold:
    """The fields of `benchmarks.corpus.Gold`, filled while visiting."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.headings: list[str] = []
        self.code: list[str] = []
        self.rows: list[list[str]] = []
        self.signatures: list[str] = []

    def visit(self, node: nodes.Node) -> None:
        """Take down a node and what is inside."""
        if isinstance(node, nodes.raw):
            self.add(_raw_text(node))
        elif _is_skipped(node):
            return
        elif isinstance(node, (nodes.literal_block, nodes.doctest_block)):
            self.code.append(node.astext())
            self.add(node.astext())
        elif isinstance(node, addnodes.desc_signature):
            self.signature(node)
        elif isinstance(node, nodes.row):
            self.rows.append([_text(entry) for entry in node.children])
            self.children(node)
        elif isinstance(node, _LEAVES) and not _holds_blocks(node):
            self.leaf(node)
        elif isinstance(node, nodes.Text):
            self.add(node.astext())
        elif isinstance(node, nodes.image):
            self.add(node.get("alt", ""))
        elif isinstance(node, nodes.TextElement) and _is_inline(node):
            self.add(_text(node))
        else:
            # The writer of HTML puts a title into each admonition that it writes.
            if not (node.children and isinstance(node.children[0], nodes.title)):
                self.add(_ADMONITIONS.get(node.tagname, ""))
            self.children(node)

    def children(self, node: nodes.Node) -> None:
        """Take down what is inside of a node."""
        for child in node.children:
            self.visit(child)

    def leaf(self, node: nodes.Element) -> None:
        """Take down a block of text."""
        text = _text(node)
        if isinstance(node, nodes.title) and isinstance(node.parent, nodes.section):
            self.headings.append(text)
        self.add(text)

    def signature(self, node: nodes.Element) -> None:
        """Take down a signature, on one line."""
        for line in node.findall(addnodes.desc_signature_line):
            line.append(nodes.Text(" "))
        text = " ".join(_text(node).split())
        if next(iter(node.findall(addnodes.desc_optional)), None) is not None:
            text = text.replace(", [", "[, ")  # as it is written in HTML
        self.signatures.append(text)
        self.add(text)

    def add(self, text: str) -> None:
        """Take down a text unless it is white space."""
        if text.strip():
            self.text.append(text)


def _text(node: nodes.Node) -> str:
    """Return the text of a node, images by their alt text, blocks apart."""
    if isinstance(node, nodes.raw):
        return _raw_text(node)
    if isinstance(node, nodes.image):
        return str(node.get("alt", ""))
    if _is_skipped(node):
        return ""
    if isinstance(node, (addnodes.desc_parameterlist, addnodes.desc_type_parameter_list)):
        return str(node.astext())
    if isinstance(node, (addnodes.desc_returns, nodes.Text)):
        return str(node.astext())
    apart = " " if any(map(_is_block, node.children)) else ""
    return apart.join(map(_text, node.children))


def _is_block(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Body) and not isinstance(node, nodes.Inline)


def _is_skipped(node: nodes.Node) -> bool:
    if node.tagname == "autosummary_table":  # a comment by its class
        return False
    source_link = isinstance(node, nodes.Element) and "viewcode-link" in node.get("classes", [])
    return isinstance(node, _SKIPPED) or source_link or _is_contents(node)


def _is_inline(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Inline) and not _holds_blocks(node)


def _holds_blocks(node: nodes.Node) -> bool:
    """Tell whether there is a block inside, such as a list of entries in a compact paragraph."""
    blocks = (nodes.bullet_list, nodes.paragraph, nodes.literal_block, nodes.table)
    return any(child is not node for kind in blocks for child in node.findall(kind))


def _is_contents(node: nodes.Node) -> bool:
    """Tell whether a node is a table of contents of the page itself."""
    return isinstance(node, nodes.topic) and "contents" in node.get("classes", [])


def _raw_text(node: nodes.Element) -> str:
    if "html" not in node.get("format", ""):
        return ""
    parts: list[str] = []
    parser = HTMLParser()
    parser.handle_data = parts.append  # type: ignore[method-assign, assignment]
    parser.feed(node.astext())
    return " ".join(parts)
