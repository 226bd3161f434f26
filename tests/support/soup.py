"""A site of divs alone: no generator, no main element, the same frame on each page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TOPICS = (
    *("install", "configure", "upgrade", "backup", "restore", "query", "index", "tables"),
    *("roles", "network", "logging", "metrics"),
)


@dataclass(frozen=True, slots=True)
class Template:
    """What is on each page around its text."""

    before: tuple[str, ...] = (
        "<div class=t1>Acme Database handbook, edition 7</div>",
        "<div class=c9>We use cookies to count visits. <a href=/cookies>Read more</a></div>",
        "<div class=s3><ul><li><a href=/a>Guide</a></li><li><a href=/b>Forum</a></li></ul></div>",
    )
    after: tuple[str, ...] = (
        "<div class=x2>Was this useful? Tell the handbook team.</div>",
        "<hr><div class=f1>Acme Database Ltd, 12 Long Lane, Exeter</div>",
    )

    def words(self) -> tuple[str, ...]:
        """Words that only the frame has."""
        return tuple(word for word in FRAME_WORDS if word in "".join(self.before + self.after))


FRAME_WORDS = (
    *("edition", "cookies", "Forum", "handbook team", "Exeter"),
    *("Acme Cloud", "consent", "Academy", "Rate this", "Dublin"),
)
OLD = Template()
NEW = Template(
    before=(
        "<div class=n1><p>Acme Cloud documentation</p></div>",
        "<div class=n2>This site asks for your consent to statistics.</div>",
        "<div class=n3><ol><li>Academy</li><li>Status</li><li>Prices</li></ol></div>",
    ),
    after=("<div class=n4>Rate this page.</div><div class=n5>Acme Cloud Inc, Dublin</div>",),
)


@dataclass(slots=True)
class Soup:
    """The site: topics, their paragraphs, and which template each page has."""

    topics: tuple[str, ...] = TOPICS
    template: Template = OLD
    templates: Mapping[str, Template] = field(default_factory=dict)
    """Pages that have another template already."""
    edits: Mapping[str, str] = field(default_factory=dict)
    """First paragraph by topic, where it is not the usual one."""

    def page(self, topic: str) -> str:
        """Return the HTML of a page."""
        template = self.templates.get(topic, self.template)
        text = self.edits.get(topic, f"To {topic} the server, the {topic} tool is the place.")
        own = (
            f"<div class=q><h1>How to {topic}</h1><p>{text}</p>"
            f"<p>It takes {len(topic)} minutes, and {topic} can be undone for a day.</p>"
            f"<h2>Example</h2><pre>$ acme --version\nacme 7.1</pre>"
            "<table><tr><th>Flag</th><th>Means</th></tr>"
            "<tr><td>-v</td><td>say more</td></tr></table>"
            f"<p>See the notes on {topic} for more.</p></div>"
        )
        frame = "".join(template.before), "".join(template.after)
        title = f"<title>How to {topic}</title>"
        return f"<!doctype html><html><head>{title}</head><body>{own.join(frame)}</body></html>"

    def write(self, folder: Path) -> Path:
        """Write the pages into an empty or older folder; return it."""
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.html"):
            old.unlink()
        for topic in self.topics:
            (folder / f"{topic}.html").write_text(self.page(topic), "utf-8")
        return folder
