"""Imports point one way, and nothing heavy loads before it is needed."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import freshcrawl

ROOT = Path(freshcrawl.__file__).parent
HEAVY = ("torch", "faiss", "sentence_transformers", "transformers", "playwright")
MODULES = sorted(
    ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in ROOT.rglob("*.py")
)
OURS = "freshcrawl"
ALLOWED = {
    "core": ("freshcrawl.core",),
    "seams": (),
    "stores": ("freshcrawl.stores", "freshcrawl.core", "freshcrawl.posting", "freshcrawl.seams"),
    "extract": ("freshcrawl.extract", "freshcrawl.core"),
    "config": ("freshcrawl.embedding_config",),
    "embedding_config": ("freshcrawl.core",),
    "clock": (),
    "failures": ("freshcrawl.stores",),
    "inflate": (),
    "posting": (),
    "sites": ("freshcrawl.core",),
    "credentials": ("freshcrawl.config", "freshcrawl.core", "freshcrawl.sites"),
    "site_checks": ("freshcrawl.sites",),
    "site_tables": (
        *("freshcrawl.config", "freshcrawl.core", "freshcrawl.credentials"),
        *("freshcrawl.site_checks", "freshcrawl.sites"),
    ),
    "sites_file": ("freshcrawl.config", "freshcrawl.site_tables", "freshcrawl.sites"),
    "state": ("freshcrawl.config", "freshcrawl.core", "freshcrawl.stores"),
    "items": ("freshcrawl.core",),
    "render": ("freshcrawl.credentials", "freshcrawl.sites"),
    "sitemaps": ("freshcrawl.core", "freshcrawl.inflate"),
    "robots": ("freshcrawl.failures", "freshcrawl.sitemaps"),
}
"""What a part may import of freshcrawl, types too, where that is less than all below it."""
LAYERS = (
    ("core", "posting"),
    ("embedding_config",),
    (
        *("clock", "config", "console", "inflate", "interrupting", "seams", "settings"),
        *("stopping", "threads"),
    ),
    ("extract", "items", "policies", "progress", "sitemaps", "sites", "stores", "summary"),
    (
        *("credentials", "failures", "noise", "reading", "site_checks", "sitemap_places"),
        *("rolled_back", "staged_work", "staging", "state", "watch"),
    ),
    ("embedding", "problems", "recovery"),
    ("alerts",),
    ("forgotten",),
    ("ledger", "packed_edits", "render", "robots", "site_tables"),
    ("generations",),
    ("backlog", "publishing"),
    ("approving", "compacting", "rollback", "sightings", "sites_file", "stored_sites"),
    ("accounts", "arguments", "embed_site", "reader", "rescoping"),
    ("run", "selection"),
    ("entering",),
    ("elsewhere", "homes", "outcomes", "run_publishing", "seeds", "storms"),
    ("witnesses",),
    ("absence", "collapsing", "holding"),
    ("tally",),
    ("sitewide",),
    ("boilerplate", "upgrades"),
    ("discovery", "extensions", "remaking"),
    ("components", "crawls", "rehearsing", "reindexing"),
    ("middlewares", "pipelines"),
    ("page_answers",),
    ("addon", "spiders"),
    ("doctor",),
    (
        *("answers", "proof_file", "proof_words", "purged", "site_status", "unknown_pages"),
        "verify",
    ),
    ("explanation", "traces"),
    ("forgetting", "page_history"),
    ("cli", "forget_proof", "letting_in"),
    ("asking", "decisions"),
    ("commands",),
)
"""All parts; each imports only what is in a layer above its own in this table."""
RANKS = {part: rank for rank, parts in enumerate(LAYERS) for part in parts}
ONLY_TYPES = {
    *(("accounts", "run"), ("noise", "run"), ("rescoping", "run")),
    *(
        ("forgotten", "ledger"),
        ("recovery", "ledger"),
        ("rolled_back", "ledger"),
        ("rolled_back", "state"),
    ),
}
"""What works on a Run or a Ledger, and is called by it or keeps what it knows."""


def source_of(module: str) -> Path:
    path = ROOT.parent.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def imports_of(module: str) -> set[str]:
    """Return the names of all that a module imports anywhere in its code."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source_of(module).read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively"
            submodules = {f"{node.module}.{alias.name}" for alias in node.names} & set(MODULES)
            names.update(submodules or {str(node.module)})
    return names


def part_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def within(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


def ours(module: str) -> set[str]:
    return {name for name in imports_of(module) if within(name, (OURS,))}


@pytest.mark.parametrize("module", [name for name in MODULES if part_of(name) in ALLOWED])
def test_a_part_imports_only_what_is_below_it(module: str) -> None:
    allowed = ALLOWED[part_of(module)]
    assert {name for name in ours(module) if not within(name, allowed)} == set()


def test_every_part_has_its_layer() -> None:
    assert sorted(RANKS) == sorted({part_of(module) for module in MODULES} - {""})


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_one_way(module: str) -> None:
    part = part_of(module)
    parts = {part_of(name) for name in ours(module)} - {part, ""}
    above = {name for name in parts if RANKS[name] >= RANKS.get(part, 0)}
    assert {(part, name) for name in above} <= ONLY_TYPES
    assert not above & {part_of(name) for name in runtime_imports(module)}


@pytest.mark.parametrize("module", [name for name in MODULES if part_of(name) == "core"])
def test_core_needs_little(module: str) -> None:
    known = sys.stdlib_module_names | {"w3lib", "numpy", OURS}
    assert {name.split(".")[0] for name in imports_of(module)} <= known


PURE = [name for name in MODULES if part_of(name) in {"core", "stores", "extract"}]


@pytest.mark.parametrize("module", PURE)
def test_core_stores_and_extract_work_without_scrapy(module: str) -> None:
    framework = ("scrapy", "twisted", "itemadapter")
    assert {name for name in imports_of(module) if within(name, framework)} == set()


def test_the_test_sees_what_is_imported() -> None:
    assert "freshcrawl.core.pages" in imports_of("freshcrawl.core.changes")
    assert "freshcrawl.core.evidence" in imports_of("freshcrawl.pipelines.presence")
    assert {"freshcrawl", "freshcrawl.core.pages", "freshcrawl.spiders.docs"} <= set(MODULES)
    assert set(ALLOWED) <= {part_of(module) for module in MODULES}


def test_no_module_waits_for_itself() -> None:
    """Modules can be ordered so that each imports only earlier ones (imports for types aside)."""
    waiting = {module: runtime_imports(module) - {module} for module in MODULES}
    while ready := {module for module, needs in waiting.items() if not needs & set(waiting)}:
        waiting = {module: needs for module, needs in waiting.items() if module not in ready}
    assert waiting == {}


def runtime_imports(module: str) -> set[str]:
    """Return our modules that loading a module loads by its own top level."""
    names: set[str] = set()
    for node in ast.parse(source_of(module).read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom) and within(str(node.module), (OURS,)):
            submodules = {f"{node.module}.{alias.name}" for alias in node.names} & set(MODULES)
            names.update(submodules or {str(node.module)})
    return names


@pytest.mark.parametrize(
    "modules",
    ["freshcrawl.addon, freshcrawl.commands.status, freshcrawl.spiders.docs", ", ".join(MODULES)],
    ids=["a Scrapy project", "every module"],
)
def test_nothing_heavy_is_loaded_by_importing(modules: str) -> None:
    code = f"import sys, {modules}\nprint(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT.parent
    )
    assert done.stdout.split() == []
