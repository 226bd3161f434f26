"""A run's end and a site's state in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from freshcrawl.core.guards import WAITS
from freshcrawl.core.report import ENDED_EARLY, URL_KINDS
from freshcrawl.core.words import count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

VERDICTS = (
    ("changed", "changed"),
    ("new", "new"),
    ("links_only", "with new link targets only"),
    ("cosmetic", "with differences that do not count"),
    ("unchanged", "unchanged"),
    ("moved", "moved"),
    ("gone", "gone"),
    ("hidden", "hidden"),
    ("excluded", "excluded"),
    ("kept", "kept by policy"),
    ("rejected", "rejected"),
    ("failed", "failed"),
)
SHOWN = 5
EMBED_COMMAND = "scrapy embed"
VECTORS_COME = f"they come with the next run, or by {EMBED_COMMAND}"
UNITS = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))


def run_summary(run: Mapping[str, Any], site: str) -> list[str]:
    """Return what a run of a site did and left, a line each; ``run`` is ``as_contract``."""
    lines = [*run_lines(run), *standing_lines(run, site), *problem_lines(run, site)]
    return [f"{site}: {run_outcome(run)}", *(f"  {line}" for line in lines)]


def run_outcome(run: Mapping[str, Any]) -> str:
    """Return how a run ended, how long it took and what is published."""
    word = run["status"]
    if word == "ok":
        word = "complete" if run["complete"] else "incomplete"
        if stopped_early(run):
            word = "stopped early"
        word = f"{word}, {run['held']} held" if run["held"] else word
        word = f"{word}, rolled back" if run["pinned"] else word
        word = f"dry run, nothing stored: {word}" if run["dry_run"] else word
    generation = f"generation {run['generation']}" if run["generation"] else "nothing published yet"
    if word in {"running", "killed"}:
        return f"{word}, {generation}"
    return f"{word}, {run['duration_s']:.1f} s, {generation}"


def stopped_early(run: Mapping[str, Any]) -> bool:
    """Tell whether a run that did not fail was ended before it was through."""
    return run["status"] == "ok" and run["finish_reason"] not in {"", "finished"}


def run_lines(run: Mapping[str, Any]) -> list[str]:
    """Return what a run asked for, found, embedded and saved, without what is zero."""
    return [line for line in (_asked(run), _found(run), _embedded(run), _saved(run)) if line] + [
        f"{words}{_still_held(run, counter)}: {some(run['urls'][name], run[counter])}"
        for name, (counter, words) in URL_KINDS.items()
        if name in run["urls"] and not (name == "new" and run["first_crawl"])
    ]


def _asked(run: Mapping[str, Any]) -> str:
    asked = f"{run['asked'] or 'none'} asked for"
    if run["not_modified"]:
        asked += f", {run['not_modified']} of them answered 304"
    not_due = f"{run['not_due']} not due, " if run["not_due"] else ""
    received = f"; {amount(run['bytes_downloaded'])} received" if run["bytes_downloaded"] else ""
    return f"{count(run['discovered'], 'page')} listed: {not_due}{asked}{received}"


def _found(run: Mapping[str, Any]) -> str:
    kinds = ", ".join(f"{kind}: {n}" for kind, n in run["rejected_kinds"].items())
    why = {"rejected": f" ({kinds})" if kinds else ""}
    found = [
        f"{run[name]} {words}{why.get(name, '')}{_still_held(run, name)}"
        for name, words in VERDICTS
        if run[name]
    ]
    if run["dead"]:
        found.append(count(run["dead"], "dead link"))
    if run["missing"]:
        them = "it" if run["missing"] == 1 else "them"
        found.append(
            f"{run['missing']} still there though no sitemap or page links to {them} any more"
        )
    return ", ".join(found)


def _still_held(run: Mapping[str, Any], name: str) -> str:
    """Return in words how many of the pages that a verdict counts are held, "" for none."""
    held = run["held_verdicts"].get(name, 0)
    if not held:
        return ""
    return " (held)" if held == run[name] else f" ({held} of them held)"


def _embedded(run: Mapping[str, Any]) -> str:
    parts = [
        f"{count(run[name], 'passage')} {words}"
        for name, words in (
            ("chunks_to_embed", "would have to be embedded"),
            ("chunks_embedded", "embedded"),
            ("chunks_reused", "reused"),
            ("chunks_removed", "left the answers"),
        )
        if run[name]
    ]
    if run["pending_embed"]:
        parts.append(pending_words(run))
    if run["released"]:
        parts.append(f"{count(run['released'], 'held page')} let go")
    return ", ".join(parts)


def _saved(run: Mapping[str, Any]) -> str:
    requests, downloads, chunks = (
        f"{run[f'saved_{part}']} of {count(whole, noun)}" if run[f"saved_{part}"] else ""
        for part, whole, noun in (
            ("requests", run["recrawl_requests"], "page request"),
            ("downloads", run["recrawl_requests"], "page download"),
            ("chunks", run["recrawl_chunks"], "embedding"),
        )
    )
    size = ""
    if run["saved_bytes"]:
        size = amount(run["recrawl_bytes"], run["saved_bytes"])
    saved = ", ".join(filter(None, (requests, downloads, size, chunks)))
    return f"saved against a full recrawl: {saved}" if saved else ""


def standing_lines(data: Mapping[str, Any], site: str) -> list[str]:
    """Return what is held, stale and always changing; ``data`` is a report or a site's status."""
    lines = []
    if data["pinned"]:
        lines.append(data["pinned"])
    if data["held"] and (data["held_classes"] or not data["pinned"]):
        lines.append(f"{WAITS}: {_held(data, site)}")
    if data["stale"]:
        they = "it answers with its" if data["stale"] == 1 else "they answer with their"
        why = _reasons(data["stale_reasons"])
        lines.append(f"stale: {count(data['stale'], 'page')} ({why}): {they} last text")
    lines += [f"changes on every run: {changing_words(page)}" for page in data["changing"][:SHOWN]]
    if data["changing"]:
        more = len(data["changing"]) - SHOWN
        rest = f"and {count(more, 'more page')}; " if more > 0 else ""
        lines.append(f"  {rest}name what changes in drop or volatile_patterns of the site")
    return lines


def pending_words(data: Mapping[str, Any]) -> str:
    """Return what waits for vectors, and the command to go on; ``data``: a report or a status."""
    pages = count(data["pending_embed"], "page")
    waits = f"wait{'s' if data['pending_embed'] == 1 else ''}"
    chunks = data.get("chunks_pending")
    passages = f" ({count(chunks, 'passage')})" if chunks else ""
    return f"{pages}{passages} {waits} for vectors; {VECTORS_COME}"


def _held(data: Mapping[str, Any], site: str) -> str:
    why = (
        "; ".join(r for r in data["held_reasons"] if r != data["pinned"])
        or "found by an earlier run"
    )
    if data.get("dry_run"):
        return why
    return (
        f"{why}. To look: scrapy status --site {site} --pages held; "
        f"to let them go: {release_command(site)}; to keep the pages as they are: "
        f"{discard_command(site)}"
    )


def release_command(site: str, what: str = "") -> str:
    """Return the command that publishes what is held, or of that only a class or page."""
    return f"scrapy approve --site {site}{what and ' '}{what}"


def discard_command(site: str, what: str = "") -> str:
    """Return the command that drops it instead."""
    return f"scrapy discard --site {site}{what and ' '}{what}"


def _reasons(reasons: Mapping[str, int]) -> str:
    """Return the most frequent reasons with their numbers; a single one needs no number."""
    if len(reasons) == 1:
        return next(iter(reasons))
    shown = [f"{reason}: {number}" for reason, number in list(reasons.items())[:SHOWN]]
    rest = sum(list(reasons.values())[SHOWN:])
    return ", ".join([*shown, f"other reasons: {rest}"] if rest else shown)


def changing_words(page: Mapping[str, Any]) -> str:
    """Return the URL of a page that changes at every check, how often, and which words."""
    tokens = pairs_words(page["tokens"])
    runs = f"{page['url']} ({page['runs']} checks in a row)"
    return f"{runs}: {tokens}" if tokens else runs


def pairs_words(pairs: Sequence[Sequence[str]]) -> str:
    """Return pairs of old and new words for reading; nothing is named as such."""

    def quoted(words: str) -> str:
        return f'"{words}"' if words else "nothing"

    return ", ".join(f"{quoted(old)} -> {quoted(new)}" for old, new in pairs)


def problem_lines(run: Mapping[str, Any], site: str) -> list[str]:
    """Return why a run is not complete, and how to go on."""
    lines = []
    reasons = [text for text in run["incomplete_reasons"] if not text.startswith(ENDED_EARLY)]
    if reasons:
        lines.append(f"incomplete: {'; '.join(reasons)}")
    if run["error"]:
        lines.append(f"error: {run['error']}")
    if stopped_early(run) and not run["dry_run"]:
        lines.append(
            f"ended by {run['finish_reason']}; what was found is kept, and the next run goes on: "
            f"scrapy crawl docs -a site={site}{' -a full=1' if run['full'] else ''}"
        )
    return lines


def some(urls: Sequence[str], whole: int) -> str:
    """Return the first URLs of ``whole`` pages in all."""
    shown = list(urls[:SHOWN])
    more = whole - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def amount(whole: float, part: float | None = None) -> str:
    """Return bytes in a unit that fits, or a part of them in the same unit."""
    unit, size = next(((name, size) for name, size in UNITS if whole >= size), ("bytes", 1))
    digits = 0 if size == 1 else 1
    of = "" if part is None else f"{part / size:.{digits}f} of "
    return f"{of}{whole / size:.{digits}f} {unit}"
