"""VitePress: npm's own documentation, Markdown that comes inside the npm package.

Needs Node.js 20 or later with npm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.npm_site import npm_pages

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.corpus import Page

FAMILY = "vitepress"
UNSEEN = False
_CONFIG = """export default {
  title: 'npm', description: 'npm', ignoreDeadLinks: true,
  themeConfig: {
    nav: [{ text: 'Commands', link: '/commands/npm' }],
    sidebar: [{ text: 'Commands', items: [
      { text: 'install', link: '/commands/npm-install' }, { text: 'ci', link: '/commands/npm-ci' },
    ] }],
    editLink: { pattern: 'https://docs.test/edit/:path' },
    footer: { message: 'Released under the Artistic License.', copyright: 'Copyright npm' },
  },
}
"""


def pages(work: Path) -> list[Page]:
    """Return the pages, built the first time."""
    build = ["npx", "vitepress", "build", "site", "--outDir", "out"]
    return npm_pages(work, ["vitepress@1.6.4"], (".vitepress/config.mjs", _CONFIG), build)
