"""Runs ``scrapy``, then prints which files below a folder its process has still open.

``python -m tests.support.open_files FOLDER ARGUMENTS...``
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

from scrapy.cmdline import execute


def open_below(folder: str) -> list[str]:
    """Return the paths of the open files below a folder."""
    found = []
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            found.append(str(entry.readlink()))
    return sorted(path for path in found if path.startswith(folder))


if __name__ == "__main__":
    code: int | str | None = 0
    try:
        execute(["scrapy", *sys.argv[2:]])
    except SystemExit as end:
        code = end.code
    print("open:", open_below(sys.argv[1]))
    sys.exit(code)
