"""What may happen between and in the runs of the convergence suite, as hypothesis draws it."""

from __future__ import annotations

from hypothesis import strategies as st

from freshcrawl.seams import Seam
from tests.support.cuts import Cut
from tests.support.site_server import PAGE_FAULTS, ROBOTS_FAULTS, SITEMAP_FAULTS, Faults

KINDS = (
    *("edit", "edit", "edit", "revert", "move", "delete", "bring_back", "hide", "add"),
    *("unlist", "relist", "point_elsewhere", "relink", "new_frame", "new_banner"),
)
change = st.tuples(st.sampled_from(KINDS), st.sampled_from([1, 1, 2, 3, 8, 40]))
changes = st.lists(change, max_size=4)
some_changes = st.lists(change, min_size=1, max_size=4)
days = st.sampled_from([0.01, 0.3, 0.55, 1.0, 4.0, 20.0, 70.0])
share = st.sampled_from([0.15, 0.4, 1.0])
begins = st.sampled_from([0, 0, 2, 6, 15])
seeds = st.integers(0, 2**16)
faults = st.builds(
    Faults,
    pages=st.sampled_from(["", "", *PAGE_FAULTS, "404"]),
    sitemap=st.sampled_from(["", "", "", "half", *SITEMAP_FAULTS]),
    robots=st.sampled_from([""] * 18 + [*ROBOTS_FAULTS]),
    share=share,
    after=begins,
    seed=seeds,
)
few = st.integers(1, 12)
cuts = st.one_of(
    st.builds(Cut, st.just("kill"), st.sampled_from(["item", "request"]), few),
    st.builds(Cut, st.just("full"), st.just("item"), few),
    st.builds(Cut, st.just("stop"), st.just("request"), few),
    st.builds(Cut, st.just("pages"), st.just("request"), few),
)
"""Cuts of a crawl."""
# Most runs pass each step of a publish once.
passed = st.sampled_from([1, 1, 1, 2])
dies = st.sampled_from(["kill", "kill", "full"])
publish_cuts = st.one_of(
    st.builds(Cut, dies, st.sampled_from(Seam), passed),
    st.builds(Cut, dies, st.sampled_from(Seam), passed),
    st.builds(Cut, st.just("embedder"), st.just("encode"), passed),
)
"""Cuts of a publish: most of what is only seen if a run dies between two steps needs them."""
