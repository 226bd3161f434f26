"""TypeDoc: undici's types, from the npm package `undici-types`.

Needs Node.js 20 or later with npm. The gold is the page's own column of content without
breadcrumbs, the index of the page, lines of source files, permalinks and controls.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from benchmarks.corpus import Page
from benchmarks.gold_element import code_of, gold_of_elements
from benchmarks.sources import chosen, run
from benchmarks.tools import node_modules

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.page_text import Element

FAMILY = "typedoc"
UNSEEN = False
_PACKAGES = (
    "typedoc@0.28.20", "typescript@5.9", "undici-types@7.16.0", "@types/node@22",
)  # fmt: skip
_ENTRY = "node_modules/undici-types/index.d.ts"
_CONFIG = """{"compilerOptions": {"target": "es2022", "module": "nodenext",
"moduleResolution": "nodenext", "skipLibCheck": true}, "files": ["%s"]}
"""
_DROP = (
    ".tsd-breadcrumb", ".tsd-index-panel", ".tsd-sources ul", ".tsd-anchor-icon", "button", "svg",
)  # fmt: skip
_SIGNATURE_MAX = 300
"""Characters; what is longer, or has a body, is code to a reader."""
_LAST_COMMA = re.compile(r",(?=\s*[)\]])")  # of parameters on lines of their own
_TAG = re.compile(rb'(<code class="tsd-tag">[^<]*</code>)')  # set apart from what follows by style
_BODY = re.compile(r"\{\s*\n")


def pages(work: Path) -> list[Page]:
    """Return the pages, built the first time."""
    out = work / "out"
    if not out.is_dir():
        node = node_modules(work, *_PACKAGES)
        (node / "tsconfig.json").write_text(_CONFIG % _ENTRY, encoding="utf-8")
        command = ["npx", "typedoc", "--entryPoints", _ENTRY, "--skipErrorChecking"]
        run([*command, "--out", "out", "--readme", "none"], node)
        (node / "out").rename(out)
    found = []
    for folder in ("classes", "interfaces", "functions", "types", "variables"):
        for path in sorted((out / folder).glob("*.html")):
            html = path.read_bytes()
            gold = gold_of_elements(
                _TAG.sub(rb"\1 ", html), ".col-content", drop=_DROP,
                signatures=".tsd-signature", is_signature=_is_signature,
            )  # fmt: skip
            if gold is not None:
                gold.signatures = [_LAST_COMMA.sub("", line) for line in gold.signatures]
                found.append(Page(f"https://docs.test/{folder}/{path.name}", html, gold))
    return chosen(found)


def _is_signature(el: Element) -> bool:
    text = code_of(el)
    return len(text) <= _SIGNATURE_MAX and _BODY.search(text) is None
