"""The folder that a web server serves: versions are laid into it as a deployment does."""

from __future__ import annotations

import os
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote
from xml.sax.saxutils import escape


class WebRoot:
    """A web root. A file whose bytes stay the same keeps its time, as with ``rsync -c``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._deployed_at = 0
        folder.mkdir(parents=True, exist_ok=True)

    def deploy(self, tree: Path, base_url: str, *, sitemap: bool = True) -> None:
        """Make the web root equal to ``tree``, plus ``robots.txt`` and ``sitemap.xml``.

        New and changed files get the time of the deployment in whole seconds, later than that of
        any earlier one (so that no two versions of a file share a Last-Modified); files that
        are not in ``tree`` go.
        """
        self._deployed_at = max(int(time.time()), self._deployed_at + 1)
        names = {path.relative_to(tree) for path in tree.rglob("*") if path.is_file()}
        own = {Path("robots.txt"), Path("sitemap.xml")} if sitemap else {Path("robots.txt")}
        for name in sorted(names - own):
            self._put(name, (tree / name).read_bytes())
        self._remove_all_but(names | own)
        robots = "User-agent: *\nDisallow:\n"
        if sitemap:
            self._put(Path("sitemap.xml"), self._sitemap(base_url).encode())
            robots += f"Sitemap: {base_url}sitemap.xml\n"
        self._put(Path("robots.txt"), robots.encode())

    def pages(self) -> list[Path]:
        """Return the paths of all pages, relative, sorted."""
        return sorted(path.relative_to(self.folder) for path in self.folder.rglob("*.html"))

    def _put(self, name: Path, content: bytes) -> None:
        """Write one file, in one step, unless it has this content already."""
        path = self.folder / name
        if path.is_file() and path.read_bytes() == content:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=self.folder.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).chmod(0o644)
        os.utime(temporary, (self._deployed_at, self._deployed_at))
        Path(temporary).replace(path)

    def _remove_all_but(self, wanted: set[Path]) -> None:
        """Remove files that are not wanted, then folders that became empty."""
        for path in sorted(self.folder.rglob("*"), reverse=True):
            if path.is_dir():
                if not any(path.iterdir()):
                    path.rmdir()
            elif path.relative_to(self.folder) not in wanted:
                path.unlink()

    def _sitemap(self, base_url: str) -> str:
        """Return a sitemap of all pages whose ``lastmod`` is the time of the file."""
        entries = "\n".join(self._sitemap_entry(base_url, name) for name in self.pages())
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
            f"{entries}\n</urlset>\n"
        )

    def _sitemap_entry(self, base_url: str, name: Path) -> str:
        """Return the ``url`` element of one page."""
        modified = datetime.fromtimestamp((self.folder / name).stat().st_mtime, UTC)
        location = escape(base_url + quote(name.as_posix()))
        return f"<url><loc>{location}</loc><lastmod>{modified.isoformat()}</lastmod></url>"
