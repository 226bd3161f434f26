"""Markdown documentation that npm packages carry, for the generators that make pages of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.gold_markdown import FRONT_MATTER
from benchmarks.sources import npm_package

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

_H1 = re.compile(r"\A\s*#\s+(.+?)\s*#*\s*\n")
_BANNER = re.compile(r"\A\s*<h1[^>]*>.*?</h1>\s*", re.DOTALL)
_TITLE = re.compile(r"^title:\s*(.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Source:
    """A Markdown file."""

    path: str
    """Below the documentation's folder, with slashes."""
    title: str
    text: str
    """Without front matter and without the title as a heading."""

    def titled(self) -> str:
        """Return the Markdown with the title as its first heading."""
        return f"# {self.title}\n\n{self.text}"

    def with_front_matter(self) -> str:
        """Return the Markdown with the title in front matter only."""
        quoted = self.title.replace("\\", "\\\\").replace('"', '\\"').replace("`", "")
        return f'---\ntitle: "{quoted}"\n---\n\n{self.text}'


def npm_docs(work: Path) -> list[Source]:
    """Return npm's own documentation: commands, configuration, use."""
    return read_all(npm_package("npm", "11.6.0", work) / "docs" / "content")


def fastify_docs(work: Path) -> list[Source]:
    """Return Fastify's guides and reference."""
    return read_all(npm_package("fastify", "5.6.1", work) / "docs")


def undici_docs(work: Path) -> list[Source]:
    """Return undici's API reference and best practices."""
    return read_all(npm_package("undici", "7.16.0", work) / "docs" / "docs")


def read_all(folder: Path) -> list[Source]:
    """Return the Markdown files below a folder in the order of their paths.

    The title is the first heading, else that of the front matter, else the file's name.
    """
    found = []
    for file in sorted(folder.rglob("*.md")):
        text = file.read_text(encoding="utf-8")
        front = FRONT_MATTER.match(text)
        text = _BANNER.sub("", FRONT_MATTER.sub("", text))
        named = _H1.match(text) or (_TITLE.search(front[1]) if front else None)
        title = named[1].strip("\"'") if named else file.stem.replace("-", " ")
        found.append(Source(file.relative_to(folder).as_posix(), title, _H1.sub("", text)))
    return found


def write_all(sources: Iterable[Source], folder: Path, form: Callable[[Source], str]) -> None:
    """Write sources below a folder, each as ``form`` has it."""
    for source in sources:
        target = folder / source.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(form(source), encoding="utf-8")
