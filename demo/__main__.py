"""Crawl a documentation site, leave it alone, lay a new release in, and show what each cost."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from demo import show
from demo.commands import DemoError, crawl, page_texts, query
from demo.server import served
from tests.support.corpora import CACHE, corpus
from tests.support.webroot import WebRoot

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PROJECT, BEFORE, AFTER = "mako", "1.3.8", "1.3.10"
QUESTION = "What is the future_imports argument of Template for?"
FOLDER = CACHE.parent / "demo"
FIRST, AGAIN, RELEASE = "first crawl", "no change", "new release"


def main() -> int:
    """Run the demonstration; return its exit code."""
    try:
        trees = corpus(PROJECT, BEFORE), corpus(PROJECT, AFTER)
        shutil.rmtree(FOLDER, ignore_errors=True)
        root = WebRoot(FOLDER / "www")
        with served(root.folder) as url:
            tell(root, url, trees)
    except (DemoError, RuntimeError, OSError, subprocess.SubprocessError) as error:
        print(f"\nThe demo failed: {error}", file=sys.stderr)
        return 1
    return 0


def tell(root: WebRoot, url: str, trees: tuple[Path, Path]) -> None:
    """Crawl both releases and print what happened.

    Raises:
        DemoError: a command failed, or its result is not what it should be.
    """
    state = FOLDER / "state"
    print(f"The documentation of Mako {BEFORE}, then {AFTER}, on {url}")
    print("Commands are shown without the settings for the state folder and for speed.")

    show.heading(f"1. {FIRST.capitalize()}: Mako {BEFORE}")
    root.deploy(trees[0], url)
    sites = {FIRST: crawl(url, state=state)}
    before, old_answer = page_texts(state), query(QUESTION, state=state)
    show.answer(old_answer)

    show.heading(f"2. {AGAIN.capitalize()}: every page is asked for again")
    sites[AGAIN] = crawl(url, "-a", "full=1", state=state)

    show.heading(f"3. {RELEASE.capitalize()}: Mako {AFTER} is laid in")
    root.deploy(trees[1], url)
    sites[RELEASE] = crawl(url, "-a", "full=1", state=state)
    after = page_texts(state)

    runs = {name: site["last_run"] for name, site in sites.items()}
    show.heading("The three runs")
    show.table(runs)
    compare(before, after, runs[RELEASE])
    show.heading("What the recrawls saved")
    recrawls = {name: runs[name] for name in (AGAIN, RELEASE)}
    show.savings(recrawls, sites[RELEASE]["chunks"])
    explain_downloads(runs[RELEASE])

    show.heading("The same question again")
    new_answer = query(QUESTION, state=state)
    show.answer(new_answer)
    check(runs, old_answer, new_answer)
    print(f"\nState: {state} (for scrapy query, set FRESHCRAWL_STATE_DIR to it)")


def compare(before: Mapping[str, str], after: Mapping[str, str], run: Mapping[str, Any]) -> None:
    """Print which pages changed, and the diff of one.

    Raises:
        DemoError: the run report counts other pages than the exports show.
    """
    urls = list(show.changed_pages(before, after))
    show.heading(f"Pages whose text changed: {len(urls)} of {len(after)}")
    print("\n".join(urls))
    if not urls or len(urls) != run["changed"] + run["new"] + run["gone"]:
        raise DemoError(f"the run counted {run['changed']} changed pages, the export {len(urls)}")
    url = show.smallest_change(urls, before, after)
    print()
    show.diff(url, before.get(url, ""), after.get(url, ""))


def explain_downloads(run: Mapping[str, Any]) -> None:
    """Say why a new release may save no download."""
    if run["not_modified"] == 0:
        print(
            "Every page of the new release was sent again, because each carries the release number "
            f"in its\nheader; {run['unchanged']} of them have the text that was published, so "
            "nothing of them was embedded."
        )


def check(
    runs: Mapping[str, Mapping[str, Any]], old: Mapping[str, Any], new: Mapping[str, Any]
) -> None:
    """Make sure that the demonstration showed what it is for.

    Raises:
        DemoError: it did not.
    """
    first, again, release = (runs[name] for name in (FIRST, AGAIN, RELEASE))
    facts = {
        "the first crawl did not embed": first["chunks_embedded"] > 0,
        "an unchanged site was not answered by 304 alone": again["not_modified"]
        == again["fetched"]
        > 0,
        "an unchanged site was embedded": again["chunks_embedded"] == 0,
        "the new release embedded as much as the first crawl": 0
        < release["chunks_embedded"]
        < first["chunks_embedded"],
        "the answer is still the old one": old["text"] != new["text"],
    }
    wrong = [what for what, holds in facts.items() if not holds]
    if wrong:
        raise DemoError("; ".join(wrong))


if __name__ == "__main__":
    sys.exit(main())
