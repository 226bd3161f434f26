"""Runs ``scrapy`` in a process to which something happens when it reaches a seam.

``python -m tests.support.fault_at FAULT[=ARGUMENT] PLACE ARGUMENTS...``: the faults are the keys of
``FAULTS``. A place is the name of a ``freshcrawl.seams.Seam``, ``MODULE:CLASS.FUNCTION[:N]`` (just
before its N-th call), or ``start``.
"""

from __future__ import annotations

import errno
import os
import resource
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.cmdline import execute

from freshcrawl.seams import Seam, listening
from tests.support.crash_at import arm
from tests.support.small_disk import fill

if TYPE_CHECKING:
    from collections.abc import Callable


def out_of_memory(_: str) -> None:
    """Fail as numpy or Python do.

    Raises:
        MemoryError: always.
    """
    raise MemoryError("Unable to allocate 5.00 GiB")


def failing_call(number: str) -> None:
    """Fail as a system call does.

    Raises:
        OSError: always, with the errno of that name.
    """
    code = getattr(errno, number)
    raise OSError(code, os.strerror(code))


def limit_memory(kib: str) -> None:
    """Let the address space grow by no more than this."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + int(kib) * 1024
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def limit_files(number: str) -> None:
    """Let no more than so many descriptors be open."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (int(number), int(number)))


def use_up_files(_: str) -> None:
    """Let no descriptor be left."""
    limit_files(str(max(int(entry.name) for entry in Path("/proc/self/fd").iterdir())))


def garble(path: str) -> None:
    """Overwrite a file from its second page on."""
    with Path(path).open("r+b") as file:
        length = file.seek(0, os.SEEK_END)
        file.seek(4096)
        file.write(b"\xff" * (length - 4096))


FAULTS: dict[str, Callable[[str], None]] = {
    "fill": lambda folder: fill(Path(folder)),
    "memory": out_of_memory,
    "memory-limit": limit_memory,
    "error": failing_call,
    "files": limit_files,
    "no-files": use_up_files,
    "garble": garble,
    "remove": lambda path: Path(path).unlink(),
}


def main(what: str, place: str, args: list[str]) -> None:
    """Run ``scrapy`` with the arguments; the fault happens once."""
    name, _, argument = what.partition("=")
    left = [FAULTS[name]]

    def strike() -> None:
        if left:
            left.pop()(argument)

    if place == "start":
        strike()
    elif ":" in place:
        arm(place, strike)
    with listening(lambda seam: strike() if seam == place else None):
        execute(["scrapy", *args])


if __name__ == "__main__":
    assert sys.argv[2] == "start" or ":" in sys.argv[2] or sys.argv[2] in set(Seam)
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
