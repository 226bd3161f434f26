"""Source archives of real projects, by the registries' ordinary clients."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.corpus import Page

PAGES = 20
"""Pages of a family."""
TIMEOUT_S = 900


def sdist(project: str, version: str, work: Path) -> Path:
    """Return the unpacked source archive of a release on PyPI; downloads it the first time."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--no-binary", project, f"{project}=={version}", "--dest"]
    return _unpacked(f"{project}-{version}", command, work)


def npm_package(project: str, version: str, work: Path) -> Path:
    """Return an unpacked release on npm; downloads it the first time."""
    command = ["npm", "pack", "--silent", f"{project}@{version}", "--pack-destination"]
    return _unpacked(f"{project.replace('/', '-')}-{version}", command, work)


def run(command: Sequence[object], folder: Path) -> None:
    """Run a command in a folder.

    Raises:
        RuntimeError: it failed; with the end of what it wrote.
    """
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {done.stdout[-800:]} {done.stderr[-2000:]}")


def chosen(pages: Sequence[Page], count: int = PAGES) -> list[Page]:
    """Return ``count`` pages, evenly spread over their URLs in order.

    Pages of fewer than 80 words are left out where there are enough others.
    """
    long = [page for page in pages if len(" ".join(page.gold.text).split()) >= 80]
    few = sorted(long if len(long) >= count else pages, key=lambda page: page.url)
    step = max(1.0, len(few) / count)
    return [few[int(at * step)] for at in range(min(count, len(few)))]


def _unpacked(name: str, command: Sequence[str], work: Path) -> Path:
    """Return the folder of an archive that a command downloads into a folder named last."""
    work = work.resolve()
    target = work / name
    if not target.is_dir():
        work.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=work) as folder:
            run([*command, folder], work)
            archive = next(path for path in Path(folder).iterdir() if path.is_file())
            with tarfile.open(archive) as tar:
                tar.extractall(Path(folder) / "out", filter="data")
            top = next((Path(folder) / "out").iterdir())
            top.rename(target)
    return target
