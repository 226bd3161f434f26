"""Crawl a documentation site, leave it alone, lay a new release in, and show what each cost."""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from typing import TYPE_CHECKING, Any

from demo import show
from demo.commands import DemoError, Project
from demo.server import PortError, served
from tests.support.corpora import CACHE, corpus
from tests.support.webroot import WebRoot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.support.project import Embedder

PROJECT, BEFORE, AFTER = "mako", "1.3.8", "1.3.10"
QUESTION = "What is the future_imports argument of Template for?"
ASK = ("query", QUESTION, "-k", "1")
FOLDER = CACHE.parent / "demo"
FIRST, AGAIN, RELEASE = "first crawl", "no change", "new release"
TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")


def main(args: Sequence[str]) -> int:
    """Run the demonstration; return its exit code."""
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument(
        "--port", type=port, default=0, help="of the web server on loopback; any that is free"
    )
    parser.add_argument(
        "--embedder", choices=["real", "hash"], default="real", help="hash: no model, for tests"
    )
    options = parser.parse_args(args)
    try:
        with served(FOLDER / "www", options.port) as url:
            tell(url, options.embedder)
    except (PortError, DemoError, RuntimeError, OSError) as error:
        sys.stdout.flush()
        print(f"demo: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("demo: stopped", file=sys.stderr)
        return 130
    return 0


def port(text: str) -> int:
    """Return a port number.

    Raises:
        ArgumentTypeError: it is none.
    """
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: give a number up to 65535")
    return int(text)


def tell(url: str, embedder: Embedder) -> None:
    """Crawl both releases and print what happened.

    Raises:
        DemoError: a command failed, or its result is not what it should be.
        RuntimeError: the documentation cannot be downloaded.
    """
    trees = corpus(PROJECT, BEFORE), corpus(PROJECT, AFTER)
    shutil.rmtree(FOLDER, ignore_errors=True)
    root, project = WebRoot(FOLDER / "www"), Project(FOLDER / "state", embedder)
    print(f"The documentation of Mako {BEFORE}, then {AFTER}, on {url}")
    print("Commands are shown without the settings for the state folder and for speed.")

    show.heading(f"1. {FIRST.capitalize()}: Mako {BEFORE}")
    print("It embeds every passage, which takes about half a minute on two cores.")
    root.deploy(trees[0], url)
    sites = {FIRST: project.crawl(url)}
    before, old_answer = project.page_texts(), project.show(*ASK)

    show.heading(f"2. {AGAIN.capitalize()}: every page is asked for again")
    sites[AGAIN] = project.crawl(url, "-a", "full=1")

    show.heading(f"3. {RELEASE.capitalize()}: Mako {AFTER} is laid in")
    root.deploy(trees[1], url)
    sites[RELEASE] = project.crawl(url, "-a", "full=1")
    after = project.page_texts()

    runs = {name: site["last_run"] for name, site in sites.items()}
    show.heading("The reports of the three runs")
    show.table(runs)
    changed = compare(before, after, runs[RELEASE])
    show.heading("What the recrawls saved")
    recrawls = {name: runs[name] for name in (AGAIN, RELEASE)}
    show.savings(recrawls, runs[FIRST], sites[RELEASE]["chunks"])
    explain_downloads(root, runs[RELEASE])

    show.heading("The same question again")
    new_answer = project.show(*ASK)
    check(runs)
    if embedder == "real":
        check_answer(old_answer, new_answer, changed)
    print("To ask something else:")
    print(f"  FRESHCRAWL_STATE_DIR={project.state} .venv/bin/scrapy query 'what is a namespace?'")


def compare(
    before: Mapping[str, str], after: Mapping[str, str], run: Mapping[str, Any]
) -> list[str]:
    """Print which pages changed, and the diff of one; return them all.

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
    return urls


def explain_downloads(root: WebRoot, run: Mapping[str, Any]) -> None:
    """Say why a new release may save no download."""
    pages = [(root.folder / name).read_text("utf-8") for name in root.pages()]
    if run["not_modified"] == 0 and all(AFTER in page for page in pages):
        print(
            "Every page of the new release was sent again, since the release number is in each of "
            f"them,\nso that no file is as it was. {run['unchanged']} of them still have the text "
            "that was published,\nand nothing of those was embedded."
        )


def check(runs: Mapping[str, Mapping[str, Any]]) -> None:
    """Make sure that the runs showed what they are for.

    Raises:
        DemoError: they did not.
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
    }
    wrong = [what for what, holds in facts.items() if not holds]
    if wrong:
        raise DemoError("; ".join(wrong))


def check_answer(old: str, new: str, changed: Sequence[str]) -> None:
    """Make sure that the answer is of the new release, by what was printed.

    Raises:
        DemoError: it is not.
    """
    if not any(url in new for url in changed):
        raise DemoError("the answer is not from a page that changed")
    if TIME.sub("", old) == TIME.sub("", new):
        raise DemoError("the answer is still the old one")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
