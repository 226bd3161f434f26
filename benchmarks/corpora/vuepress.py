"""VuePress 2 with its default theme: npm's own documentation, Markdown in the npm package.

Needs Node.js 20 or later with npm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.npm_site import npm_pages

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.corpus import Page

FAMILY = "vuepress"
UNSEEN = False
_PACKAGES = (
    "vuepress@2.0.0-rc.20", "@vuepress/bundler-vite@2.0.0-rc.20",
    "@vuepress/theme-default@2.0.0-rc.79", "vue@3", "sass-embedded@1",
)  # fmt: skip
_CONFIG = """import { viteBundler } from '@vuepress/bundler-vite'
import { defaultTheme } from '@vuepress/theme-default'
export default { lang: 'en-US', title: 'npm', bundler: viteBundler(), theme: defaultTheme({
  repo: 'npm/cli', docsRepo: 'https://docs.test/npm', navbar: ['/commands/npm-ci.html'],
  sidebar: ['/commands/npm-access.md', '/commands/npm-audit.md'],
}) }
"""


def pages(work: Path) -> list[Page]:
    """Return the pages, built the first time."""
    build = ["npx", "vuepress", "build", "site", "--dest", "out"]
    return npm_pages(work, _PACKAGES, (".vuepress/config.js", _CONFIG), build)
