"""The documents say what the code does: names, defaults, commands, links."""

from __future__ import annotations

import re
import subprocess
from dataclasses import MISSING, fields
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

import pytest
import scrapy.commands

import freshcrawl
from freshcrawl import cli
from freshcrawl.config import PREFIX, SETTINGS, Config
from freshcrawl.core.evidence import SITE_POLICIES
from freshcrawl.core.pages import Status, Verdict
from freshcrawl.core.report import RunReport
from freshcrawl.core.schedule import SchedulePolicy
from freshcrawl.items import Outcome, PageItem
from freshcrawl.site_status import site_status
from freshcrawl.site_tables import CHOICES
from freshcrawl.sites import POLICIES, RULES, SiteConfig, default_of
from freshcrawl.sites_file import load_sites
from freshcrawl.state import open_in_memory

if TYPE_CHECKING:
    from dataclasses import Field

REPO = Path(__file__).resolve().parents[1]
DOCS = REPO / "docs"
README = REPO / "README.md"
EXAMPLE = REPO / "sites.example.toml"
PROSE = sorted([README, REPO / "CHANGES.md", EXAMPLE, *DOCS.glob("*.md")])
COMMANDS = sorted(path.stem for path in (REPO / "freshcrawl/commands").glob("[!_]*.py"))
SITE_KEYS = {f.name: f for f in fields(SiteConfig) if f.name not in {"name", "policies"}}
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")


def rows(path: Path, width: int) -> dict[str, list[str]]:
    """Return the other cells of the table rows of ``width`` cells that start with a name."""
    found: dict[str, list[str]] = {}
    for line in path.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == width:
            for name in re.findall("`([^`]+)`", cells[0]):
                assert name not in found, f"{name} twice in {path.name}"
                found[name] = cells[1:]
    return found


def setting_default(field: Field[Any]) -> str:
    """Return the default as docs/settings.md writes it."""
    if isinstance(field.default, bool):
        return f"`{str(field.default).lower()}`"
    if isinstance(field.default, str):
        return f"`{field.default}`" if field.default else '`""`'
    return f"`{field.default:.12g}`"


def key_default(field: Field[Any]) -> str:
    """Return the default as docs/sites.md writes it, which is TOML."""
    if default_of(field) is MISSING:
        return "required"
    if isinstance(field.default, bool):
        return f"`{str(field.default).lower()}`"
    if isinstance(field.default, str):
        return f'`"{field.default}"`'
    return "`[]`" if field.default == () else "`{}`"


def test_settings_are_documented_with_their_defaults() -> None:
    table = rows(DOCS / "settings.md", 4)
    assert {name: cells[0] for name, cells in table.items()} == {
        name: setting_default(field) for name, field in SETTINGS.items()
    }
    assert list(table) == list(SETTINGS)
    assert all(unit and meaning for _, unit, meaning in table.values())


def test_site_keys_are_documented_with_their_defaults_and_choices() -> None:
    table = rows(DOCS / "sites.md", 4)
    assert {name: cells[0] for name, cells in table.items()} == {
        name: key_default(field) for name, field in SITE_KEYS.items()
    }
    assert {name: tuple(re.findall("`([^`]+)`", table[name][1])) for name in CHOICES} == CHOICES
    own = rows(DOCS / "sites.md", 2)
    assert own == {name: [f"`{PREFIX}{name.upper()}`"] for name in POLICIES}
    assert {name.upper() for name in POLICIES} <= {name.removeprefix(PREFIX) for name in SETTINGS}


def test_statistics_are_documented() -> None:
    report = RunReport("20260101T000000.000000Z-0000", 0.0)
    names = {f"freshcrawl/{name}" for name in report.as_contract()}
    of_a_site = {*site_status(open_in_memory("docs"), 0.0, SchedulePolicy()), "listed"}
    assert rows(DOCS / "stats.md", 2).keys() == names | of_a_site


def test_item_fields_and_words_are_documented() -> None:
    text = (DOCS / "items.md").read_text("utf-8")
    assert rows(DOCS / "items.md", 3).keys() == {f.name for f in fields(PageItem)} | set(Status)
    assert {*rows(DOCS / "items.md", 2)} == set(Outcome)
    verdicts = text.partition("## Verdicts")[2].partition("## ")[0]
    assert set(re.findall("`([a-z_]+)`", verdicts)) == set(Verdict)


def test_commands_are_in_the_table_with_their_exit_codes() -> None:
    table = rows(README, 3)
    assert sorted(name.split()[1] for name in table) == COMMANDS
    codes = {code for cells in table.values() for code in re.findall(r"\d", cells[1])}
    assert codes == {str(code) for code in range(cli.LOCKED + 1)}


def test_exit_codes_are_explained() -> None:
    text = (DOCS / "operations.md").read_text("utf-8")
    codes = (cli.OK, cli.ERROR, cli.USAGE, cli.HELD, cli.INCOMPLETE, cli.LOCKED, cli.INTERRUPTED)
    assert re.findall(r"^\| (\d+) \|", text, re.MULTILINE) == [str(code) for code in codes]
    order = re.search(r"most serious code among them: (\d), then ([\d,\s]+)\.", text)
    assert order is not None
    assert re.findall(r"\d", order[0]) == [str(code) for code in cli.SERIOUSNESS]


CRON = re.compile(r"^17 \* \* \* \*  (.*)$", re.MULTILINE)


@pytest.mark.parametrize(
    ("code", "status", "printed"),
    [
        (0, "", ""),
        (0, "a page is stale", "a page is stale\n"),
        (5, "a page is stale", ""),
        (1, "a run failed", "a problem\na run failed\n"),
        (4, "", "a problem\n"),
    ],
)
def test_cron_mails_only_what_needs_attention(
    code: int, status: str, printed: str, tmp_path: Path
) -> None:
    [line] = CRON.findall(README.read_text("utf-8"))
    assert CRON.findall((DOCS / "operations.md").read_text("utf-8")) == [line]
    assert "%" not in line  # cron would take it for a new line
    program = tmp_path / ".venv/bin/scrapy"
    program.parent.mkdir(parents=True)
    program.write_text(
        "#!/bin/sh\n"
        "case $1 in\n"
        f"crawl) echo nothing is due; echo a problem >&2; exit {code};;\n"
        f"status) test $2 = --check || exit 2; test -z '{status}' || echo '{status}'; exit 4;;\n"
        "esac\n"
    )
    program.chmod(0o755)
    command = line.replace("/srv/freshcrawl", str(tmp_path))
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (printed, "")


@pytest.mark.parametrize("path", PROSE, ids=lambda path: path.name)
def test_only_settings_and_commands_that_exist_are_named(path: Path) -> None:
    text = path.read_text("utf-8")
    names = re.findall(rf"{PREFIX}[A-Z_]*[A-Z]", text)
    assert set(names) <= SETTINGS.keys()
    scrapys = {module.name for module in iter_modules(scrapy.commands.__path__)}
    called = re.findall(r"(?:`|\$ |/|^)scrapy ([a-z]+)", text, re.MULTILINE)
    assert set(called) <= {*COMMANDS, *scrapys}


@pytest.mark.parametrize("path", PROSE, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for name, anchor in LINK.findall(path.read_text("utf-8")):
        target = path.parent / name if name else path
        assert target.is_file(), f"{path.name}: {name}"
        assert not anchor or anchor in headings(target), f"{path.name}: {name}#{anchor}"


def headings(path: Path) -> set[str]:
    """Return the anchors of a document's headings."""
    titles = re.findall(r"^#+ (.*)$", path.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_example_sites_can_be_used_and_show_most_keys() -> None:
    sites = load_sites(Config(sites=str(EXAMPLE)))
    assert len(sites) >= 3
    shown = {key for site in sites.values() for key in site.to_json()} - {"name"}
    rare = {*SITE_POLICIES, "subdomains", "keep_params", "root", "allow", *RULES}
    assert shown >= SITE_KEYS.keys() - rare


def test_changes_start_with_this_version() -> None:
    found = re.search(r"^## (\S+)", (REPO / "CHANGES.md").read_text("utf-8"), re.MULTILINE)
    assert found is not None
    assert found[1] == freshcrawl.__version__
