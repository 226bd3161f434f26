"""Scores extraction on real pages beside its peers: ``python -m benchmarks.extraction``.

Families may be named; then their scores are printed and no report is written.
Pages of unseen families are scored only with ``--unseen`` or when named.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from benchmarks import extraction_report
from benchmarks.corpora import corpora
from benchmarks.corpora.sphinx_sqlalchemy import all_of_sqlalchemy
from benchmarks.corpus import Page
from benchmarks.loop_report import loop_report
from benchmarks.missed import missed
from benchmarks.peers import EXTRACTORS
from benchmarks.results import Results, scored
from benchmarks.seeds import digests
from benchmarks.tables import misses, score_table
from benchmarks.tools import MissingTool

REPO = Path(__file__).resolve().parents[1]
WORK = REPO / ".cache" / "bench"
REPORT = REPO / "docs" / "benchmarks" / "extraction.md"


def main() -> int:
    """Score the families that were asked for; 1 if a target is missed."""
    options = _options()
    results, everything = Results(), list[Page]()
    for corpus in corpora():
        wanted = corpus.FAMILY in options.family if options.family else not corpus.UNSEEN
        if wanted or (corpus.UNSEEN and options.unseen and not options.family):
            try:
                pages = corpus.pages(WORK / corpus.__name__.rpartition(".")[2])
            except MissingTool as missing:
                print(f"{corpus.FAMILY}: left out: {missing}", flush=True)
                continue
            names = ["freshcrawl"] if options.alone else list(EXTRACTORS)
            everything += pages
            results.add(corpus.FAMILY, scored(pages, names), pages, unseen=corpus.UNSEEN)
            _show(corpus.FAMILY, results, pages)
            if options.misses:
                _list_misses(pages)
    failed = sum(len(misses(score)) for score in results.ours().values())
    if not options.family and not options.alone:
        section, slow = loop_report(all_of_sqlalchemy(WORK / "sphinx_sqlalchemy"))
        REPORT.parent.mkdir(parents=True, exist_ok=True)
        text = extraction_report.report(results, digests(everything), section)
        REPORT.write_text(text, encoding="utf-8")
        print(f"written: {REPORT.relative_to(REPO)}; blocks the loop too long: {slow or 'nothing'}")
        failed += len(slow)
    return 1 if failed else 0


def _list_misses(pages: list[Page]) -> None:
    for page in pages:
        print(page.url)
        for line in missed(page, EXTRACTORS["freshcrawl"](page.html, page.url)):
            print(line)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.extraction", description=__doc__)
    parser.add_argument("family", nargs="*", help="score and print only these families")
    parser.add_argument("--unseen", action="store_true", help="score the unseen families too")
    parser.add_argument("--alone", action="store_true", help="without the peers")
    parser.add_argument("--misses", action="store_true", help="list what is not found")
    return parser.parse_args()


def _show(family: str, results: Results, pages: list[Page]) -> None:
    sources = ", ".join(Counter(page.gold.source for page in pages))
    print(f"{family}: {len(pages)} pages, gold from {sources}")
    scores = results.families[family]
    print(score_table("extractor", scores), flush=True)
    for miss in misses(scores["freshcrawl"]):
        print(f"  MISSED: {miss}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
