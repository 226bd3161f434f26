"""What robots metas and ``X-Robots-Tag`` headers say."""

from __future__ import annotations

import re

_AGENT = re.compile(
    r"\s*(?!unavailable_after\b|max-(?:snippet|image-preview|video-preview)\b)"
    r"([a-z0-9_*-]+)\s*:(.*)",
    re.DOTALL,
)
"""``otherbot: value``; the rules that take a value look the same but name nobody."""


def says_noindex(robots: str) -> bool:
    """Tell whether robots meta or header values keep a page out of every index.

    One line is one header or meta. Values for a named agent (``otherbot:
    noindex``), up to the line's end or another agent, count only if it is ours.
    """
    for line in robots.lower().splitlines():
        agent = ""
        for part in line.split(","):
            value = part
            if match := _AGENT.match(part):
                agent, value = match.groups()
            if value.strip() in {"noindex", "none"} and agent in {"", "*", "freshcrawl"}:
                return True
    return False
