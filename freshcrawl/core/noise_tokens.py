"""Pieces of text that can be noise: times, durations, counts, random ids.

To be one proves nothing: only a place whose token was seen to differ again and again is noise
(`core.noise`). So these patterns may be generous where a wrong one costs nothing, and are narrow
where content looks alike: decimals, versions, prices, percentages and sizes are no counts.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

TIME, DURATION, COUNTER, ID = "time", "duration", "counter", "id"
PROSE = frozenset({"paragraph", "list", "quote"})
"""Kinds of blocks whose words may hold noise."""
LINKED = PROSE | {"table", "admonition", "heading"}
"""Kinds of blocks whose link targets and anchors may hold random ids."""

_SPACE = "[ \u00a0\u202f]"
MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sep(?:t(?:ember)?)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_WHOLE_WEEKDAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b"
WEEKDAY = rf"{_WHOLE_WEEKDAY}|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b"
CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?"
_ZONE = r"(?:Z\b|UTC\b|GMT\b|[A-Z]{1,3}[SD]T\b|CET\b|[+-]\d{2}:?\d{2}\b)"
_TIME_OF_DAY = rf"{CLOCK}(?:{_SPACE}?[AaPp]\.?[Mm]\b\.?)?(?:{_SPACE}?{_ZONE})*"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_DATE = (
    rf"(?:(?:{WEEKDAY}),?{_SPACE})?(?:"
    r"\d{4}-\d{2}-\d{2}|\d{4}/\d{1,2}/\d{1,2}|\d{1,2}/\d{1,2}/(?:\d{4}|\d{2})"
    r"|\d{1,2}\.\d{1,2}\.\d{4}"
    rf"|{MONTH}{_SPACE}{{1,2}}{_DAY}{_SPACE}{_TIME_OF_DAY}{_SPACE}\d{{4}}"
    rf"|{_DAY}[ -]{MONTH}(?:,?[ -]\d{{4}})?|{MONTH}{_SPACE}{_DAY}(?:,?{_SPACE}\d{{4}})?"
    rf"|{MONTH}{_SPACE}\d{{4}})"
)
UNITS = "second|sec|minute|min|hour|hr|day|week|month|year"
RELATIVE = (
    rf"(?:\d+|an?|one|a few|few){_SPACE}(?:{UNITS})s?{_SPACE}ago\b"
    r"|[Jj]ust now\b|[Mm]oments ago\b|[Yy]esterday\b|[Tt]oday\b|[Tt]omorrow\b"
    r"|[Ll]ast (?:week|month|year)\b"
)
_PART = rf"(?:{RELATIVE}|{_DATE}|{_TIME_OF_DAY}|{_WHOLE_WEEKDAY})"
_JOINT = rf"(?:,?{_SPACE}(?:(?:at|on){_SPACE})?|T|,)"
_SECONDS = r"(?:ms|msecs?|milliseconds?|\u00b5s|s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?)\b"
_COUNTED = (
    r"view|visitor|visit|hit|read|reader|comment|repl(?:y|ie)|answer|vote|like|star|download"
    r"|share|follower|member|user|person|people|result|contributor|fork|install"
)
_TOKEN = re.compile(
    rf"(?P<{TIME}>(?<![\w.:/=+\-#$]){_PART}(?:{_JOINT}{_PART})*(?!\w|[.:/-]\d))"
    rf"|(?P<{DURATION}>(?<![\w.,:/=+\-#$<>])\d+(?:\.\d+)?{_SPACE}?{_SECONDS}"
    rf"(?:{_SPACE}\d+(?:\.\d+)?{_SPACE}?{_SECONDS})*)"
    rf"|(?P<{ID}>(?<![\w./=+-])[A-Za-z0-9_+/-]{{12,}}={{0,2}}(?![\w.]\w))"
    rf"|(?P<{COUNTER}>(?<![\w.,:/+\-=<>#$\u20ac\u00a3\u00a5%@&~^\\])(?<!\w\*)"
    rf"(?:\d{{1,3}}(?:[,\u00a0\u202f]\d{{3}})+|\d+)"
    rf"(?![\w%\u20ac\u00a3\u00a5\u00b0/:=+<>@~^\\-]|\*+\w|[.,]\d)"
    rf"(?:{_SPACE}(?P<of>{_COUNTED})s?\b)?)"
)
_MEASURE = re.compile(
    r"\s?(?:%|per ?cent|[kKMGT]i?[Bb]\b|bytes?\b|bits?\b|px\b|em\b|pt\b|[kMG]?Hz\b"
    r"|EUR\b|USD\b|GBP\b|euros?\b|dollars?\b|pounds?\b|cents?\b|\u20ac|\$|\u00a3|\u00b0|[*+/<>=^-]\s?\d)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"(?:\b(?:v|version|release|python|java|node|php|port|pep|rfc|issue|http|error|code|status"
    r"|level|chapter|section|step|line|usd|eur|gbp)\.?\s|[*+/<>=^-]\s|[$\u20ac\u00a3]\s?)$",
    re.IGNORECASE,
)
_LIST_MARK = re.compile(r"(?:^|\n)[ >]*$")
_VERBATIM = re.compile(
    r"^[ >]*(?P<fence>```+|~~~+).*?(?:^[ >]*(?P=fence)|\Z)"
    r"|(?<!`)(?P<tick>`+)(?!`).+?(?<!`)(?P=tick)(?!`)"
    r"|https?://[^\s)>]+",
    re.DOTALL | re.MULTILINE,
)
TARGET = re.compile(r"\]\((?P<target><[^>\n]*>|(?:[^()\s]|\([^()\s]*\))*)\)")
_TARGET_ID = re.compile(r"(?<=[=/#?&;_.~-])[A-Za-z0-9_-]{8,}(?:%3D|=){0,2}(?![A-Za-z0-9_-])")
_TARGET_PART = re.compile(r"[A-Za-z0-9]{8,}")
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_HEX = re.compile(r"[0-9a-f]{12,}|[0-9A-F]{12,}")


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text by its type; ``name`` is what stands for it in the text without it."""

    kind: str
    start: int
    end: int
    value: str
    name: str


@dataclass(frozen=True, slots=True)
class Masked:
    """A text and what may be noise in it; ``rest`` is the text with the types in their place."""

    text: str
    tokens: tuple[Token, ...] = ()

    @property
    def rest(self) -> str:
        """What is content for sure."""
        parts, at = [], 0
        for token in self.tokens:
            parts += [self.text[at : token.start], f"\x00{token.name}\x00"]
            at = token.end
        return "".join((*parts, self.text[at:]))


def words(text: str, kind: str) -> Masked:
    """Return what may be noise in the words of a block of this kind; nothing inside of code."""
    if kind not in PROSE and kind != "table":
        return Masked(text)
    verbatim = _spans(_VERBATIM, text)
    tokens = [token for token in _words(text) if not _overlaps(token, verbatim)]
    if kind == "table":
        tokens = [t for t in tokens if t.kind in {TIME, DURATION} and _fills_cell(text, t)]
    return Masked(text, tuple(tokens))


def targets(text: str, kind: str) -> Masked:
    """Return the random ids in the link targets of a block's displayed text."""
    if kind not in LINKED:
        return Masked(text)
    verbatim = [match.span() for match in _VERBATIM.finditer(text) if match["fence"]]
    found = [
        Token(ID, start, start + len(value), value, ID)
        for link in TARGET.finditer(text)
        for start, value in _ids(link["target"], link.start("target"))
    ]
    return Masked(text, tuple(token for token in found if not _overlaps(token, verbatim)))


def anchor(text: str, kind: str) -> Masked:
    """Return the random ids in the anchor of a block."""
    if kind not in LINKED:
        return Masked(text)
    # The sign before it makes its start one of an id.
    found = [(start - 1, value) for start, value in _ids("#" + text, 0)]
    return Masked(text, tuple(Token(ID, s, s + len(v), v, ID) for s, v in found))


def _words(text: str) -> Iterator[Token]:
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup if match.lastgroup != "of" else COUNTER
        value, (start, end) = match[0], match.span()
        if kind == ID and not is_random(value):
            continue
        if kind == COUNTER and not match["of"] and _is_content(text, start, end):
            continue
        yield Token(str(kind), start, end, value, f"{kind} {_one(match['of'] or '')}".strip())


def _one(noun: str) -> str:
    """Return the name of what is counted, the same for one and for many."""
    return {"person": "people", "replie": "reply"}.get(noun, noun)


def _is_content(text: str, start: int, end: int) -> bool:
    """Tell a size, price, share, version or number of a list from a count."""
    before = text[max(0, start - 16) : start]
    if _LIST_MARK.search(before) and text[end : end + 2] in {". ", ") "}:
        return True
    return bool(_MEASURE.match(text, end) or _NUMBERED.search(before))


def is_random(text: str) -> bool:
    """Tell a text that looks random: a UUID, a hash, a token of a session."""
    bare = text.rstrip("=")
    if _UUID.fullmatch(bare):
        return True
    digits = sum(map(str.isdigit, bare))
    if _HEX.fullmatch(bare):
        return digits > 0
    if bare.isalnum() and len(bare) >= 16 and digits >= 2 and digits < len(bare):
        return True
    mixed = len(bare) >= 20 and bare.upper() != bare and bare.lower() != bare
    humps = sum(a.islower() and b.isupper() for a, b in pairwise(bare))
    return mixed and (digits > 0 or humps >= 2)


def _ids(target: str, offset: int) -> Iterator[tuple[int, str]]:
    for match in _TARGET_ID.finditer(target):
        if is_random(match[0].removesuffix("%3D")):
            yield offset + match.start(), match[0]
            continue
        for part in _TARGET_PART.finditer(target, match.start(), match.end()):
            # So many digits are seconds or milliseconds since the epoch.
            if is_random(part[0]) or (part[0].isdigit() and len(part[0]) >= 10):
                yield offset + part.start(), part[0]


def _fills_cell(text: str, token: Token) -> bool:
    before, after = text[: token.start].rstrip(" "), text[token.end :].lstrip(" ")
    return before.endswith("|") and after.startswith("|")


def _spans(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    return [match.span() for match in pattern.finditer(text)]


def _overlaps(token: Token, spans: list[tuple[int, int]]) -> bool:
    """Tell whether a token shares a character with one of the spans, which are in order."""
    before = bisect_left(spans, (token.end,)) - 1
    return before >= 0 and spans[before][1] > token.start
