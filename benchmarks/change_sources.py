"""Built documentation, version by version: source archives, npm packages, Debian packages."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import tempfile
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.corpora import CACHE, corpus

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSIONS = {
    "alembic": "1.15.1 1.15.2 1.16.1 1.16.2 1.16.3 1.16.4 1.16.5 1.17.0 1.17.1 1.17.2 1.18.0",
    "lxml": "5.3.2 5.4.0 6.0.0 6.0.2",
    "mako": "1.2.4 1.3.0 1.3.2 1.3.5 1.3.8 1.3.10",
    "npm": "11.4.2 11.5.1 11.5.2 11.6.0",
    "sqlalchemy": "2.0.40 2.0.41 2.0.42 2.0.43 2.0.44 2.0.45",
}
PAIRS = [
    (name, old, new)
    for name, versions in VERSIONS.items()
    for old, new in pairwise(versions.split())
]
"""Consecutive versions of real documentation."""
DEBIAN = {
    "git": ("git-doc", "usr/share/doc/git-doc"),
    "postgresql": ("postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html"),
    "python": ("python3.11-doc", "usr/share/doc/python3.11/html"),
}
"""Documentation of which one version is at hand: package and folder."""
NOT_PAGES = frozenset({"_modules", "_static", "_sources", "RelNotes", "contrib", "whatsnew"})
INDEXES = frozenset(
    {"genindex.html", "py-modindex.html", "search.html", "genindex-all.html", "sitemap.html"}
)


@cache
def pages(name: str, version: str = "") -> dict[str, Path]:
    """Return the files of one version's pages by their path; fetches it the first time.

    Left out: indexes that the generator makes, and listings of source code.

    Raises:
        RuntimeError: it cannot be fetched.
    """
    if name in DEBIAN:
        tree = _debian(name)
    else:
        tree = _npm(version) if name == "npm" else corpus(name, version)
    files = ((path.relative_to(tree), path) for path in sorted(tree.rglob("*.html")))
    return {
        str(place): path
        for place, path in files
        if NOT_PAGES.isdisjoint(place.parts) and place.name not in INDEXES and not path.is_symlink()
    }


def _npm(version: str) -> Path:
    tree = CACHE / f"npm-{version}"
    if not tree.is_dir():
        with _work() as work:
            _run("npm", "pack", f"npm@{version}", "--pack-destination", str(work), "--silent")
            with tarfile.open(work / f"npm-{version}.tgz") as tar:
                tar.extractall(work, filter="data")
            (work / "package/docs/output").rename(tree)
    return tree


def _debian(name: str) -> Path:
    package, folder = DEBIAN[name]
    tree = CACHE / package
    if not tree.is_dir():
        with _work() as work:
            _run("apt-get", "download", "-qq", package, folder=work)
            [archive] = work.glob("*.deb")
            _run("dpkg-deb", "--extract", str(archive), str(work / "root"))
            (work / "root" / folder).rename(tree)
    return tree


@contextmanager
def _work() -> Iterator[Path]:
    CACHE.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(dir=CACHE, prefix=".fetch-"))
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _run(*command: str, folder: Path | None = None) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
