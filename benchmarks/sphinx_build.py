"""Real documentation in reST or MyST, built by Sphinx with a theme, with gold from its doctrees."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.corpus import Gold, Page
from benchmarks.sources import run, sdist

if TYPE_CHECKING:
    from collections.abc import Mapping

REPO = Path(__file__).resolve().parents[1]
SUFFIX = ".gold.json"  # of `benchmarks.sphinx_gold`, which only a build can import
_CONF = '''\
"""The project's own configuration with another theme, and without what is not installed."""

import os
import sys
from importlib.util import find_spec

__file__ = {conf!r}
os.chdir(os.path.dirname(__file__))
sys.path[:0] = [os.path.dirname(__file__), {src!r}, {repo!r}]
source = open(__file__, encoding="utf-8").read()
exec(compile(source, __file__, "exec"))


def _there(name):
    try:
        return find_spec(name) is not None
    except ImportError:
        return False


extensions = [name for name in extensions if _there(name)] + {extensions!r}
html_theme = {theme!r}
html_theme_options, html_sidebars, html_static_path, html_extra_path = {options!r}, {{}}, [], []
html_css_files, html_js_files, html_additional_pages, intersphinx_mapping = [], [], {{}}, {{}}
html_logo = html_favicon = html_copy_source = None
templates_path, html_context = [], {context!r}
'''


@dataclass(frozen=True, slots=True)
class Project:
    """Documentation in a source archive on PyPI."""

    name: str
    version: str
    folder: str = "docs"
    src: str = "src"
    """Folder of the package that is documented, in the archive."""


def built(
    project: Project, theme: str, work: Path, options: Mapping[str, object] | None = None
) -> list[Page]:
    """Return all pages of a project's documentation; builds it the first time.

    Raises:
        RuntimeError: it cannot be downloaded or built.
    """
    work = work.resolve()
    out = work / f"{project.name}-{project.version}-{theme}"
    if not (out / "objects.inv").is_file():
        tree = sdist(project.name, project.version, work)
        _build(tree, project, theme, out, options or {})
    site = f"https://docs.example/{project.name}/"
    return [_page(path, out, site) for path in sorted(out.rglob(f"*{SUFFIX}"))]


def _build(
    tree: Path, project: Project, theme: str, out: Path, options: Mapping[str, object]
) -> None:
    conf = out.with_name(out.name + "-conf")
    conf.mkdir(exist_ok=True)
    source = tree / project.folder
    text = _CONF.format(
        conf=str(source / "conf.py"),
        src=str(tree / project.src),
        repo=str(REPO),
        extensions=["benchmarks.sphinx_gold", "sphinx_copybutton"],
        theme=theme,
        options=dict(options),
        context={"github_user": "x", "github_repo": "y", "github_version": "z", "doc_path": "d"},
    )
    (conf / "conf.py").write_text(text, encoding="utf-8")
    os.environ["SETUPTOOLS_SCM_PRETEND_VERSION"] = project.version
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "-d", str(conf / "doctrees")]
    run([*command, "-c", str(conf), str(source), str(out)], source)


def _page(gold: Path, out: Path, site: str) -> Page:
    html = gold.with_name(gold.name.removesuffix(SUFFIX) + ".html")
    fields = json.loads(gold.read_text(encoding="utf-8"))
    url = site + html.relative_to(out).as_posix()
    return Page(url, html.read_bytes(), Gold(**fields, source="reST or MyST doctree"))
