"""Names of what is around or inside of main content without being part of it."""

from __future__ import annotations

TAGS = frozenset({
    "script", "style", "noscript", "template", "nav", "button", "svg", "iframe", "object", "embed",
    "canvas", "select", "textarea", "dialog", "link", "meta", "video", "audio", "map", "datalist",
    "rp", "head", "title", "base",
})  # fmt: skip
ROLES = frozenset({
    "navigation", "banner", "contentinfo", "search", "menu", "menubar", "toolbar", "tablist",
})  # fmt: skip
CLASSES = frozenset({
    # permalinks, links to sources
    "headerlink", "paramlink", "viewcode-link", "viewcode-back", "hash-link", "permalink",
    "footnote-backref", "reversefootnote", "backrefs", "srclink", "direct-link", "sl-anchor-link",
    "selflink", "method-click-advice",
    # copy buttons, line numbers, labels of code
    "copybtn", "copy-button", "copy-btn", "btn-copy", "clipboard-button", "clipboard-copy",
    "copy-path", "code-copy", "copy-code-button", "test-arrow", "button-holder", "linenos",
    "lineno", "linenodiv", "line-number", "line-numbers-wrapper", "line-numbers-rows", "lnt",
    "hljs-ln-numbers", "rouge-gutter", "gutter", "blob-num", "source-toolbox", "ttc",
    # navigation of the page and the site
    "breadcrumb", "breadcrumbs", "rustdoc-breadcrumbs", "theme-doc-breadcrumbs", "wy-breadcrumbs",
    "wy-breadcrumbs-aside", "td-breadcrumbs", "rst-footer-buttons", "rst-versions", "related",
    "sphinxsidebar", "prev-next-area", "prev-next-footer", "prev-next-bottom", "pagination-nav",
    "docs-navigation-links", "navheader", "navfooter", "nav-wrapper", "nav-chapters",
    "mobile-nav-chapters", "sub-nav", "top-nav", "skip-nav", "skip-link", "skipnav", "td-pager",
    "theme-doc-toc-mobile", "theme-doc-toc-desktop", "td-toc", "toc-container", "page-toc",
    "bd-header-article", "bd-sidebar-secondary", "bd-toc", "onlyprint", "jb-print-docs-body",
    "VPDocFooter", "VPDocAside", "VPDocAsideOutline", "vp-doc-footer", "page-nav", "page-meta",
    "vp-page-nav", "vp-page-meta", "vp-code-tab-title", "vp-tab-title",
    "sidemenu", "menu-bar", "menu-title", "toc", "banner_link", "banner_image",
    "tsd-breadcrumb", "tsd-index-panel",
    "toc-menu", "navigation-footer", "pager", "nosearch", "table-of-contents",
    "toplang", "bottomlang", "printfooter", "mw-editsection", "catlinks", "page__share",
    "page__meta", "page__related", "md-content__button", "md-source-file", "md-feedback",
    # facts about the build, not the subject
    "theme-doc-version-badge", "theme-doc-version-banner", "theme-doc-footer",
    "theme-last-updated", "theme-edit-this-page", "edit-this-page", "edit-page-link", "edit-link",
    "edit-page", "page-footer-meta",
    "article-meta", "reading-time",
    "td-page-meta", "td-page-meta__lastmod", "last-updated", "lastupdated", "last-update",
    "git-revision-date-localized-plugin", "git-revision-date", "md-source-date",
    "page-edit-link", "page-info", "copyright", "footer-links", "sphx-glr-timing",
    "feedback", "feedback--rating", "docs-feedback", "giscus", "utterances", "ethical-ads",
    "ethical-ad", "ad-container", "cookie-banner", "cookie-consent",
    # hover text and text for screen readers
    "notable-traits", "hideme", "out-of-band", "rightside", "sub-heading", "sr-only",
    "visually-hidden", "visuallyhidden", "screen-reader-text", "dynheader", "dyncontent",
})  # fmt: skip
CLASS_STEMS = (
    # CSS modules append a hash: tocCollapsible_ETCw
    "tocCollapsible_", "lastUpdated_", "breadcrumbsContainer_", "buttonGroup_", "tocMobile_",
    "feedback--",
)  # fmt: skip
IDS = frozenset({
    "docs-header", "docs-top-navigation", "docs-top-navigation-container", "docs-sidebar",
    "docs-bottom-navigation", "docs-copyright", "docs-version-header", "fixed-sidebar",
    "index-nav", "searchbox", "quickview", "nav-path", "side-nav", "navrow1", "MSearchBox",
    "disqus_thread", "jb-print-docs-body", "skip-to-content", "top-nav-bar", "mw-navigation",
})  # fmt: skip
GENERIC_CLASSES = frozenset({
    "sidebar", "navbar", "nav", "navigation", "menu", "footer", "site-footer", "site-header",
    "header-nav", "toc", "page-footer", "pagination", "cookie", "cookies", "social", "share",
    "search-form", "topbar", "top-bar", "masthead", "banner",
})  # fmt: skip
"""Noise only where no generator is known: some of them call content so."""
GENERIC_IDS = frozenset({
    "sidebar", "navbar", "nav", "navigation", "menu", "footer", "toc", "breadcrumbs", "banner",
    "site-header", "site-footer", "masthead", "topbar", "search",
})  # fmt: skip
EDIT_LINKS = frozenset({
    "edit this page", "edit on github", "edit on gitlab", "edit on bitbucket", "edit this doc",
    "view page source", "show source", "show on github", "improve this page", "improve this doc",
    "suggest edits", "suggest changes", "edit this page on github", "view on github",
    "view source on github", "edit source", "report an issue with this page", "ⓘ",
})  # fmt: skip
PERMALINK_MARKS = frozenset({
    "", "¶", "#", "§", "🔗", "∞", "◆", "link", "permalink", "anchor", "permanent link",
    "link to this heading", "copy link", "↩",
})  # fmt: skip
FOOTNOTES = frozenset({"footnotes", "footnote", "footnote-list", "footnote-definition"})
BOXES = frozenset({
    "admonition", "note", "warning", "tip", "caution", "danger", "important", "info", "hint",
    "callout", "topic", "footnote", "footnote-list", "starlight-aside", "alert", "markdown-alert",
})  # fmt: skip
"""An ``aside`` of these is content."""
