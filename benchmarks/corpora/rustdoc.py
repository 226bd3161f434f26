"""rustdoc: crates whose sources Debian packages (bytes, memchr, anyhow, semver, smallvec, log).

Needs a Debian machine and `rustdoc`. The gold is the page's main element without breadcrumbs,
source links, permalinks, hover text and controls.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from benchmarks.corpus import Page
from benchmarks.gold_element import gold_of_elements
from benchmarks.sources import chosen, run
from benchmarks.tools import debian, need

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.page_text import Element

FAMILY = "rustdoc"
UNSEEN = False
_CRATES = {"bytes": "2018", "memchr": "2018", "anyhow": "2018", "semver": "2018", "log": "2015",
           "smallvec": "2018"}  # fmt: skip
_LAST_COMMA = re.compile(r",(?=\s*[)\]])")
_BODY = re.compile(r"\{\s*\n")
_FEATURES = ("std", "default", "alloc")
_DROP = (
    ".rustdoc-breadcrumbs", "button", ".src", ".rightside", "a.anchor", ".doc-anchor",
    ".notable-traits", ".tooltip", ".out-of-band", "summary.hideme", "#copy-path",
    ".sub-heading", ".code-attribute-hidden", "rustdoc-toolbar", ".since", ".example-wrap .tooltip",
)  # fmt: skip


def pages(work: Path) -> list[Page]:
    """Return the pages, built the first time."""
    need(rustdoc="Rust 1.80 or later")
    out = work / "out"
    if not out.is_dir():
        for crate, edition in _CRATES.items():
            package = debian(f"librust-{crate}-dev", work)
            root = next((package / "usr/share/cargo/registry").glob(f"{crate}-*"))
            command = ["rustdoc", root / "src" / "lib.rs", "--crate-name", crate]
            command += ["--edition", edition, "--cap-lints", "allow", "-o", work / "part"]
            for feature in _FEATURES:
                command += ["--cfg", f'feature="{feature}"']
            run(command, root)
        (work / "part").rename(out)
    found = []
    for path in sorted(out.glob("*/**/*.html")):
        html = path.read_bytes()
        gold = gold_of_elements(
            html, "#main-content", drop=_DROP, code="pre",
            signatures=".code-header, pre.item-decl", is_signature=_is_signature,
        )  # fmt: skip
        if gold is not None and "src" not in path.relative_to(out).parts:
            # Parameters on lines of their own have a comma after the last, which one line has not.
            gold.signatures = [_LAST_COMMA.sub("", line) for line in gold.signatures]
            found.append(Page(f"https://docs.test/{path.relative_to(out)}", html, gold))
    return chosen(found)


def _is_signature(el: Element) -> bool:
    """Tell whether a declaration is one line to a reader: it has no body to lay out."""
    return _BODY.search(str(el.text_content())) is None
