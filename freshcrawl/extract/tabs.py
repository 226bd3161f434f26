"""Tab sets: the label of each tab is put before its panel, so that no text is without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lxml import etree

from freshcrawl.extract.dom import Element, classes, climb, has_class, remove, tag_of
from freshcrawl.extract.inline import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

_LABELS = frozenset({"tabbed-labels", "tabs", "tablist", "sphinx-tabs-tablist"})
_PANEL_LISTS = frozenset({"tabbed-content", "blocks"})
_PANELS = frozenset({"tabpanel", "tabbed-block", "sphinx-tabs-panel"})
_CLIMB = 2


def label_panels(main: Element) -> None:
    """Move the labels of every tab set in ``main`` to their panels.

    A list of tabs that fits no panels is left; `prune` takes it out.
    """
    lists = [el for el in main.iter("div", "ul", "nav") if _is_tab_list(el)]
    for labels in lists:
        tabs = _tabs(labels)
        panels = next((found for found in map(_panels, climb(labels, _CLIMB)) if found), [])
        if tabs and len(tabs) == len(panels):
            _place(tabs, panels)
            remove(labels)


def _is_tab_list(el: Element) -> bool:
    return el.get("role") == "tablist" or has_class(el, _LABELS)


def _tabs(labels: Element) -> list[str]:
    by_role = [el for el in labels.iter() if el.get("role") == "tab"]
    found = by_role or list(labels.iter("label")) or [el for el in labels if tag_of(el) == "li"]
    return [plain(el) for el in found]


def _panels(around: Element) -> list[Element]:
    """Return the panels of a tab set, not of sets inside of a panel."""
    panels: list[Element] = []
    stack = list(reversed(around))
    while stack:
        el = stack.pop()
        if not tag_of(el):
            continue
        if el.get("role") == "tabpanel" or not _PANELS.isdisjoint(classes(el)):
            panels.append(el)
        elif has_class(el, _PANEL_LISTS):
            panels += [panel for panel in el if tag_of(panel) == "div"]
        else:
            stack.extend(reversed(el))
    return panels


def _place(tabs: Sequence[str], panels: Sequence[Element]) -> None:
    for tab, panel in zip(tabs, panels, strict=True):
        if not tab:
            continue
        paragraph = etree.Element("p")
        etree.SubElement(paragraph, "strong").text = tab
        paragraph.tail, panel.text = panel.text, None
        panel.insert(0, paragraph)
