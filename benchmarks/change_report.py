"""The report of what counts as a change: tables of counts, and which targets hold."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.change_edits import KINDS
from benchmarks.change_pairs import METHODS
from benchmarks.change_small import EDITS, LENGTHS, SEED, WANTED, Edited, verdicts
from benchmarks.change_themes import THEMES
from benchmarks.change_views import SIMHASH_BITS
from freshcrawl.core.pages import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmarks.change_pairs import Pair

LIMITS = (SIMHASH_BITS, 1, 0)
FALSE_MAX = 0.01


@dataclass(frozen=True, slots=True)
class Target:
    """One figure that is asked for."""

    name: str
    found: str
    holds: bool

    @property
    def line(self) -> str:
        """Return the target in one line."""
        return f"{'pass' if self.holds else 'FAIL'}: {self.name}: {self.found}"


def targets(
    pairs: Sequence[Pair], small: Sequence[Edited], theme: Sequence[Edited]
) -> list[Target]:
    """Return what is asked for, and whether it holds."""
    same, real = sum(pair.same for pair in pairs), sum(pair.truth["real"] for pair in pairs)
    false = sum(pair.false["freshcrawl"] for pair in pairs)
    missed = sum(pair.missed["freshcrawl"] for pair in pairs)
    seen = sum(found.verdict == Verdict.CHANGED for found in small)
    wrong = len(odd([], theme))
    return [
        Target("at least 15 pairs of versions", str(len(pairs)), len(pairs) >= 15),
        Target(
            "`changed` on at most 1 % of the pages whose main text is the same",
            f"{false} of {same} ({share(false, same)})",
            same > 0 and false <= FALSE_MAX * same,
        ),
        Target("no real change missed", f"{missed} of {real}", real > 0 and not missed),
        Target(f"{EDITS:,} small edits", f"{len(small):,}", len(small) >= EDITS),
        Target("each of them `changed`", f"{seen:,} of {len(small):,}", seen == len(small)),
        Target(
            "link targets `links_only`, theme's facts `unchanged`",
            f"{len(theme) - wrong} of {len(theme)}",
            not wrong,
        ),
    ]


def odd(small: Iterable[Edited], theme: Iterable[Edited]) -> list[str]:
    """Return the edits of which something else was said than is wanted."""
    return [
        f"{found.kind}: {found.where}: judged {found.verdict}"
        for found in (*small, *theme)
        if found.verdict != WANTED.get(found.kind, Verdict.CHANGED)
    ]


def report(
    pairs: Sequence[Pair],
    small: Sequence[Edited],
    theme: Sequence[Edited],
    asked: Sequence[Target],
    made_with: str,
) -> str:
    """Return the report as Markdown."""
    wrong = [*(odd for pair in pairs for odd in pair.odd), *odd(small, theme)]
    parts = [
        INTRODUCTION.format(made_with=made_with),
        table(["Target", "Found", ""], [[t.name, t.found, mark(t.holds)] for t in asked]),
        PAIRS.format(bits=SIMHASH_BITS),
        _pairs(pairs),
        _methods(pairs),
        _hidden(pairs),
        SMALL.format(seed=SEED, bits=SIMHASH_BITS, short=LENGTHS[0], long=LENGTHS[1]),
        _small(small),
        THEME,
        _theme(theme),
        "## Judged otherwise than wanted",
        "\n".join(f"- {line}" for line in wrong) or "Nothing.",
    ]
    return "\n\n".join(parts) + "\n"


def _pairs(pairs: Sequence[Pair]) -> str:
    truth = ("same", "volatile", "reordered", "real", "no main element")
    said = ("`unchanged`", "`links_only`", "`changed`", "false", "missed")
    head = ["Versions", "pages", "bytes differ", *truth, *said]
    rows = [[pair.name, *map(str, _counts([pair]))] for pair in pairs]
    return table(head, [*rows, ["**all**", *map(str, _counts(pairs))]])


def _counts(pairs: Sequence[Pair]) -> list[int]:
    truth, said = Counter[str](), Counter[str]()
    for pair in pairs:
        truth += pair.truth
        said += pair.verdicts
    return [
        sum(pair.pages for pair in pairs),
        sum(pair.differ for pair in pairs),
        *(truth[name] for name in ("same", "volatile", "reordered", "real", "unknown")),
        *(said[name] for name in ("unchanged", "links_only", "changed")),
        sum(pair.false["freshcrawl"] for pair in pairs),
        sum(pair.missed["freshcrawl"] for pair in pairs),
    ]


def _methods(pairs: Sequence[Pair]) -> str:
    same, real = sum(pair.same for pair in pairs), sum(pair.truth["real"] for pair in pairs)
    rows = []
    for method in METHODS:
        false = sum(pair.false[method] for pair in pairs)
        missed = sum(pair.missed[method] for pair in pairs)
        rows.append([
            method, str(false), share(false, same), str(missed), share(missed, real),
        ])  # fmt: skip
    head = ["Method", f"false, of {same}", "share", f"missed, of {real}", "share"]
    return table(head, rows)


def _hidden(pairs: Sequence[Pair]) -> str:
    real = sum(pair.truth["real"] for pair in pairs)
    parts = [
        f"{share(sum(pair.hidden[limit] for pair in pairs), real)} within {limit}"
        for limit in LIMITS
    ]
    return (
        f"Of the {real} real changes, so many bits of the simhash would hide: {'; '.join(parts)}."
    )


def _small(small: Sequence[Edited]) -> str:
    short, long = LENGTHS
    head = ["Kind", "edits", "`changed`", "trafilatura blind", *(f"≤ {n} bits" for n in LIMITS),
            f"≤ {SIMHASH_BITS} bits, < {short} words", f"{short}-{long}", f"> {long}"]  # fmt: skip
    rows = [
        _small_row(kind.name, [found for found in small if found.kind == kind.name])
        for kind in KINDS
    ]
    return table(head, [*rows, _small_row("**all**", small)])


def _small_row(name: str, edits: Sequence[Edited]) -> list[str]:
    seen, blind = verdicts(edits)[Verdict.CHANGED], sum(found.peer_saw is False for found in edits)
    by_length = [[found for found in edits if found.length == length] for length in range(3)]
    return [
        name,
        str(len(edits)),
        str(seen),
        f"{blind} of {sum(found.peer_saw is not None for found in edits)}",
        *(_within(edits, limit) for limit in LIMITS),
        *(f"{_within(some, SIMHASH_BITS)} of {len(some)}" for some in by_length),
    ]


def _within(edits: Sequence[Edited], limit: int) -> str:
    return share(sum(found.bits <= limit for found in edits), len(edits))


def _theme(theme: Sequence[Edited]) -> str:
    rows = []
    for name, known in THEMES.items():
        row = [f"{name} ({known.name})"]
        for kind, wanted in WANTED.items():
            said = verdicts([e for e in theme if e.theme == name and e.kind == kind])
            row.append(f"{said[wanted]} of {said.total()}" if said else "none there")
        rows.append(row)
    return table(["Theme", "link target: `links_only`", "theme's facts: `unchanged`"], rows)


def share(part: int, whole: int) -> str:
    """Return a share in percent, with one decimal below 10 %."""
    if not whole:
        return "-"
    percent = 100 * part / whole
    return f"{percent:.1f} %" if 0 < percent < 10 else f"{percent:.0f} %"


def mark(holds: bool) -> str:
    """Return the word for whether a target holds."""
    return "pass" if holds else "**fail**"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


INTRODUCTION = """# What counts as a change

`make bench-setup`, then `.venv-bench/bin/python -m benchmarks.change`; {made_with}.

The documentation comes from source archives (SQLAlchemy, Alembic, Mako, lxml), from npm's package
and from packages of Debian 12 (git, PostgreSQL, Python). The product's selectors know the main
elements of these themes but for npm's, so that both sides agree on where the main text is; npm's
release beside each title was a false change of each page until this benchmark showed it."""

PAIRS = """## Consecutive versions

What is true comes from other code than the product's: another parser, a main element that was
chosen by hand for each theme, without the theme's own parts in it, and its words and punctuation
in order. Equal is *same*; different only in digits of a line about the build is *volatile*; the
same words in another order is *reordered*; anything else is *real*. Links and images are no part
of it. *False* is `changed` for a page that is the same or volatile, *missed* another verdict for
a real change. Reordered pages count as neither: SQLAlchemy's changelog writes the tags of an
entry in another order with each build, which is reported as `changed`, since nothing in the page
says that the order of these words means nothing.

In the pages of npm the anchor of the title holds the release: each is `links_only` at least.

The methods beside it: *simhash > {bits} bits* calls a page changed if the simhash of our main
text differs in more than {bits} bits."""

SMALL = """## Dangerous small edits

One edit each in the HTML of the main content of a real page, at a random place (seed {seed}),
then read and compared like a fetched page. Each kind has the same number of edits; a price is
put into both versions first, since these pages have none. *trafilatura blind*: its text stays the
same, of those edits that it was shown. *≤ n bits*: a tolerance of so many bits of the simhash
alone would hide the edit; the last three columns show that for pages of less than {short} words,
of {short} to {long}, and of more."""

THEME = """## Link targets, and what the theme says of itself

One link of the main content of a page leads elsewhere; each number that the theme itself writes
of version, build and copyright is another one."""
