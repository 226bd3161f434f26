"""Two versions of a small documentation, as files for a web server to serve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.origin import page

if TYPE_CHECKING:
    from pathlib import Path

WORDS = ["handle", "bell", "valve", "lamp", "wheel", "rope", "gauge", "pump", "crank", "lever"]
PAGES = range(44)
EDITED = range(4, 11)
REMOVED = 20
ADDED = range(50, 53)


def write_versions(folder: Path) -> tuple[Path, Path]:
    """Write both versions below ``folder`` and return their trees.

    44 pages of three passages; the second version has seven of them edited, one removed and three
    added, within the guards.
    """
    old, new = folder / "old", folder / "new"
    for number in PAGES:
        _write(old, number, 1)
        if number != REMOVED:
            _write(new, number, 2 if number in EDITED else 1)
    for number in ADDED:
        _write(new, number, 2)
    return old, new


def _write(tree: Path, number: int, version: int) -> None:
    tree.mkdir(parents=True, exist_ok=True)
    sections = [_section(number, part, version if part else 1) for part in range(3)]
    html = page(f"Machine {number}", sections[0])
    html = html.replace("</main>", "".join(sections[1:]) + "</main>")
    (tree / f"m{number:02}.html").write_text(html)


def _section(number: int, part: int, version: int) -> str:
    word = WORDS[(number + part) % len(WORDS)]
    other = WORDS[(number * 3 + part) % len(WORDS)]
    text = (
        f"Step {part} of machine {number}: turn the {word} until the {other} answers, wait for "
        f"the count of {number + part}, and note release {version} in the book of the {word}."
    )
    return f"<h2 id='part-{part}'>The {word}</h2><p>{text}</p>" if part else text
