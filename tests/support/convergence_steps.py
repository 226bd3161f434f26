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
changes = st.lists(
    st.tuples(st.sampled_from(KINDS), st.sampled_from([1, 1, 2, 3, 8, 40])), max_size=4
)
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
# Most runs pass each step of a publish once.
passed = st.sampled_from([1, 1, 1, 2, 3])
cuts = st.one_of(
    st.builds(Cut, st.just("kill"), st.sampled_from(Seam), passed),
    st.builds(Cut, st.just("kill"), st.sampled_from(["item", "request"]), few),
    st.builds(Cut, st.just("full"), st.sampled_from([*Seam, "item"]), passed),
    st.builds(Cut, st.just("embedder"), st.just(""), st.integers(1, 4)),
    st.builds(Cut, st.sampled_from(["stop", "pages"]), st.just("request"), few),
)
