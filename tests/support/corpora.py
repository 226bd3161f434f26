"""Built HTML documentation of real projects, version by version, from their source archives."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

REPO = Path(__file__).resolve().parents[2]
CACHE = REPO / ".cache" / "corpora"
DOWNLOAD_TIMEOUT_S = 600


@dataclass(frozen=True, slots=True)
class Source:
    """Where the built pages lie in a project's source archive."""

    project: str
    folder: str
    excluded: tuple[str, ...] = ()
    """Subfolders that hold no built pages of the documentation."""


SOURCES = {
    "alembic": Source("alembic", "docs", ("build",)),
    "lxml": Source("lxml", "doc/html"),
    "mako": Source("Mako", "doc", ("build",)),
    "sqlalchemy": Source("SQLAlchemy", "doc", ("build", "_modules")),
}


def corpus(name: str, version: str) -> Path:
    """Return the folder of one version's built pages; downloads it the first time.

    Safe when several processes ask at once. Files keep the times they have in the archive.

    Raises:
        RuntimeError: the archive cannot be downloaded, or holds no pages.
    """
    tree = CACHE / f"{name}-{version}"
    if not tree.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        with _locked(CACHE / f".{tree.name}.lock"):
            if not tree.is_dir():
                _fetch(SOURCES[name], version, tree)
    return tree


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file; the kernel frees it if the process dies."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _fetch(source: Source, version: str, tree: Path) -> None:
    """Download one archive and put its pages at ``tree``, whole or not at all."""
    work = Path(tempfile.mkdtemp(dir=CACHE, prefix=".fetch-"))
    try:
        archive = _download(source.project, version, work)
        pages = work / "pages"
        unpack(archive, source, pages)
        if not (pages / "index.html").is_file():
            raise RuntimeError(f"{archive.name}: no built pages in {source.folder}/")
        pages.rename(tree)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _download(project: str, version: str, folder: Path) -> Path:
    """Download a source archive with pip and return its path."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    # pip builds the metadata of what it downloads: with what is installed, not a new environment.
    options = ["--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--dest", str(folder)]
    done = subprocess.run(
        [*pip, *options, f"{project}=={version}"],
        capture_output=True,
        text=True,
        timeout=DOWNLOAD_TIMEOUT_S,
        check=False,
    )
    archives = list(folder.glob("*.tar.gz"))
    if done.returncode or len(archives) != 1:
        raise RuntimeError(f"cannot download {project} {version}: {done.stderr.strip()}")
    return archives[0]


def unpack(archive: Path, source: Source, target: Path) -> None:
    """Unpack the files of a source's folder from a ``.tar.gz`` to ``target``."""
    with tarfile.open(archive) as tar:
        for member in tar:
            inner = _inner_path(member.name, source)
            if inner is None or not member.isfile():
                continue
            file = target / inner
            file.parent.mkdir(parents=True, exist_ok=True)
            content = tar.extractfile(member)
            assert content is not None
            with content, file.open("wb") as out:
                shutil.copyfileobj(content, out)
            os.utime(file, (member.mtime, member.mtime))


def _inner_path(name: str, source: Source) -> PurePosixPath | None:
    """Return a member's path below the source's folder, None if it is not wanted."""
    # The first part is the archive's own folder, ``project-version/``.
    path = PurePosixPath(*PurePosixPath(name).parts[1:])
    if not path.is_relative_to(source.folder) or ".." in path.parts:
        return None
    inner = path.relative_to(source.folder)
    return None if not inner.parts or inner.parts[0] in source.excluded else inner
