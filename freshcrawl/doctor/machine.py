"""The machine: state folder, embedding model, browser."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

from freshcrawl.doctor import Check, fail, ok, one_line, warn
from freshcrawl.render import launch_options
from freshcrawl.stores.base import EmbeddingError
from freshcrawl.stores.http_embedding import HttpEmbedder

if TYPE_CHECKING:
    from freshcrawl.stores.base import Embedder

LEAST_FREE = 1_000_000_000
"""Bytes on the disk below which a publish may not find room."""
SENTENCE = "The quick brown fox jumps over the lazy dog."
SLOW_SECS = 3.0
LAUNCH_MS, SHOW_MS = 30_000, 10_000
SHOWN = "the browser works"


def state_folder_checks(folder: Path, *, free: int | None = None) -> list[Check]:
    """Check that the state folder can be made, written and locked; nothing is made or left.

    ``free``: bytes on its disk, if they are known.
    """
    place = _existing(folder)
    other = "set FRESHCRAWL_STATE_DIR to a folder that can be written"
    if not place.is_dir():
        return [fail("state", f"{folder} cannot be made: {place} is not a folder", other)]
    if not os.access(place, os.W_OK | os.X_OK):
        what = "cannot be written" if place == folder else f"cannot be made in {place}"
        return [fail("state", f"{folder} {what} by this user", other)]
    checks = [_used(folder)] if place == folder else [ok("state", f"{folder} will be made")]
    free = shutil.disk_usage(place).free if free is None else free
    if free < LEAST_FREE:
        what = f"{free / 1e6:.0f} MB are free on the disk of {folder}"
        checks.append(warn("disk", what, "free some space: a full disk ends a run"))
    else:
        checks.append(ok("disk", f"{free / 1e9:.0f} GB are free"))
    return checks


def _existing(folder: Path) -> Path:
    """Return the folder or the nearest one above it that exists."""
    return next((place for place in (folder, *folder.parents) if _exists(place)), folder)


def _exists(place: Path) -> bool:
    try:
        return place.exists()
    except OSError:  # it is below a folder that this user may not enter
        return False


def _used(folder: Path) -> Check:
    """Write, lock and remove a file in the folder."""
    advice = "set FRESHCRAWL_STATE_DIR to a folder on a local disk that can be written"
    try:
        with NamedTemporaryFile(dir=folder, prefix=".doctor-") as file:
            file.write(SENTENCE.encode())
            file.flush()
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with Path(file.name).open("rb") as second:
                fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:  # as it must be
        return ok("state", f"{folder} can be written, and locks work there")
    except OSError as error:
        return fail("state", f"{folder} cannot be used: {error.strerror}", advice)
    return fail("state", f"{folder}: a second process is not kept out by a lock", advice)


def model_check(embedder: Embedder, *, load: bool) -> Check:
    """Embed a sentence, which loads the model and compares its weights where they are known.

    ``load``: whether that is done, or the endpoint asked.

    Raises:
        StoreError: the model cannot be loaded.
    """
    if isinstance(embedder, HttpEmbedder):
        return _endpoint(embedder, ask=load)
    if not load:
        return ok("model", f"{embedder.model} is found; not loaded (--no-model)")
    started = time.monotonic()
    shape = embedder.encode([SENTENCE]).shape
    seconds = time.monotonic() - started
    if shape != (1, embedder.dimension):
        what = f"{embedder.model} gives vectors of {shape[-1]} numbers, not {embedder.dimension}"
        return fail("model", what, "install the model again, or set FRESHCRAWL_EMBED_MODEL")
    return ok(
        "model",
        f"{embedder.model} is loaded and used: {embedder.dimension} dimensions, {seconds:.1f} s",
        "--no-model leaves this out" if seconds > SLOW_SECS else "",
    )


def _endpoint(embedder: HttpEmbedder, *, ask: bool) -> Check:
    where = f"{embedder.model} at {embedder.host}"
    if not ask:
        return ok("model", f"{where} is not asked (--no-model)")
    started = time.monotonic()
    try:
        embedder.encode([SENTENCE])
    except EmbeddingError as error:
        what, found, settings = str(error).rpartition(": look at ")
        if found:
            return fail("model", what, f"look at {settings}")
        return fail("model", str(error), "see whether it runs, and look at FRESHCRAWL_EMBED_URL")
    seconds = time.monotonic() - started
    return ok("model", f"{where} answers: {embedder.dimension} dimensions, {seconds:.1f} s")


def browser_check() -> Check:
    """Start Chromium as a crawl does, and let it show a page."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        advice = "install it with: pip install scrapy-playwright"
        return fail("browser", "playwright is not installed", advice)
    options = launch_options()
    advice = "install it with: apt-get install chromium, or: playwright install chromium"
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(**options, timeout=LAUNCH_MS)
            page = browser.new_page()
            page.goto(f"data:text/html,<p>{SHOWN}</p>", timeout=SHOW_MS)
            text, version = page.inner_text("p", timeout=SHOW_MS), browser.version
            browser.close()
    except Error as error:
        return fail("browser", f"Chromium does not start: {one_line(error)}", advice)
    if text != SHOWN:
        return fail("browser", "Chromium starts, but shows no page", advice)
    where = options.get("executable_path", "the one of playwright")
    return ok("browser", f"Chromium {version} starts and shows a page ({where})")
