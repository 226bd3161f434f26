"""What a corpus takes from Debian, npm and the machine to build pages with."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from benchmarks.sources import run

_APT = Path("/etc/apt")
_BINARY = re.compile(r"^(Types: deb|deb)(?= |$)", re.MULTILINE)


class MissingTool(RuntimeError):
    """A program that a corpus is built with is not on this machine; says which, in one line."""


def need(**tools: str) -> None:
    """Check that programs are there; the value says where one that is missing comes from.

    Raises:
        MissingTool: one of them is not.
    """
    missing = [f"{name} ({origin})" for name, origin in tools.items() if not shutil.which(name)]
    if missing:
        raise MissingTool(f"needs {', '.join(missing)}")


def debian(package: str, work: Path) -> Path:
    """Return the unpacked content of a package of this Debian release, without installing it."""
    need(**{"apt-get": "a Debian machine", "dpkg-deb": "a Debian machine"})
    target = work / package
    if not target.is_dir():
        work.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=work) as folder:
            run(["apt-get", "download", package], Path(folder))
            run(["dpkg-deb", "-x", next(Path(folder).glob("*.deb")), "out"], Path(folder))
            (Path(folder) / "out").rename(target)
    return target


def debian_source(package: str, work: Path) -> Path:
    """Return the upstream source of a package of this Debian release, without Debian's patches."""
    need(**{"apt-get": "a Debian machine", "tar": "Debian: tar"})
    target = work / f"{package}-source"
    if not target.is_dir():
        work.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=work) as name:
            folder = Path(name)
            (folder / "lists" / "partial").mkdir(parents=True)
            (folder / "parts").mkdir()
            for listed in [_APT / "sources.list", _APT / "sources.list.d" / "debian.sources"]:
                if listed.is_file():
                    text = _BINARY.sub(r"\1-src", listed.read_text(encoding="utf-8"))
                    (folder / "parts" / listed.name.replace("s.list", "s-old.list")).write_text(
                        text
                    )
            apt = ["apt-get", "-o", "Dir::Etc::sourcelist=-"]
            apt += ["-o", f"Dir::Etc::sourceparts={folder}/parts"]
            apt += ["-o", f"Dir::State::lists={folder}/lists"]
            run([*apt, "update"], folder)
            run([*apt, "source", "--download-only", package], folder)
            (folder / "out").mkdir()
            archive = next(folder.glob("*.orig.tar.*"))
            run(["tar", "xf", archive, "-C", "out", "--strip-components=1"], folder)
            (folder / "out").rename(target)
    return target


def node_modules(work: Path, *packages: str) -> Path:
    """Return a folder with npm packages (``name@version``) installed; done the first time."""
    need(npm="Node.js 20 or later", node="Node.js 20 or later")
    target = work / "node"
    if not target.is_dir():
        work.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=work) as name:
            (Path(name) / "package.json").write_text("{}\n", encoding="utf-8")
            run(["npm", "install", "--no-audit", "--no-fund", "--silent", *packages], Path(name))
            Path(name).rename(target)
            Path(name).mkdir()  # for the context manager to take away
    return target
