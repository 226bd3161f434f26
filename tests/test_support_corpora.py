"""Which files of a source archive become a corpus."""

from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING

import pytest

from tests.support import corpora
from tests.support.corpora import Source, corpus, unpack

if TYPE_CHECKING:
    from pathlib import Path


def archive(path: Path, names: list[str]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size, member.mtime = len(name), 1_700_000_000
            tar.addfile(member, io.BytesIO(name.encode()))
    return path


def test_only_the_built_pages_are_unpacked_with_their_times(tmp_path: Path) -> None:
    names = ["p-1/doc/index.html", "p-1/doc/api/x.html", "p-1/doc/build/conf.py", "p-1/setup.py"]
    names += ["p-1/doc/../../evil.html", "p-1/docs/other.html"]
    target = tmp_path / "pages"
    unpack(archive(tmp_path / "p-1.tar.gz", names), Source("p", "doc", ("build",)), target)
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.html")}
    assert files == {"pages/index.html", "pages/api/x.html"}
    assert not list(target.rglob("*.py"))
    assert (target / "index.html").read_text() == "p-1/doc/index.html"
    assert (target / "index.html").stat().st_mtime == 1_700_000_000


def test_an_unpacked_corpus_is_not_downloaded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def download(project: str, version: str, folder: Path) -> Path:
        calls.append((project, version))
        return archive(folder / "a.tar.gz", ["Mako-1/doc/index.html"])

    monkeypatch.setattr(corpora, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(corpora, "_download", download)
    assert corpus("mako", "1") == corpus("mako", "1") == tmp_path / "cache" / "mako-1"
    assert calls == [("Mako", "1")]


def test_an_archive_without_pages_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def download(project: str, version: str, folder: Path) -> Path:
        return archive(folder / "a.tar.gz", ["Mako-1/setup.py"])

    monkeypatch.setattr(corpora, "CACHE", tmp_path)
    monkeypatch.setattr(corpora, "_download", download)
    with pytest.raises(RuntimeError, match="no built pages in doc/"):
        corpus("mako", "1")
    assert [path.name for path in tmp_path.iterdir()] == [".mako-1.lock"]
