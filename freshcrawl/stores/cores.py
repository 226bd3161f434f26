"""How many cores this process may use."""

from __future__ import annotations

import math
import os
from pathlib import Path

_OWN_GROUP = Path("/proc/self/cgroup")
_GROUPS = Path("/sys/fs/cgroup")


def usable_cores(groups: Path = _GROUPS, own: Path = _OWN_GROUP) -> int:
    """Return the cores that affinity and the quotas of the control groups (v1, v2) leave.

    A part of a core counts as one: to be held back now and then costs less than to leave it idle.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    quotas = [quota for folder in _group_folders(groups, own) if (quota := _quota(folder))]
    return max(1, min([cores or 1, *map(math.ceil, quotas)]))


def _group_folders(groups: Path, own: Path) -> list[Path]:
    """Return the folders of the process's control groups and of those above: all of them limit."""
    found = [groups, groups / "cpu"]
    for line in _read(own).splitlines():
        _, controllers, path = line.split(":", 2)
        root = groups if not controllers else groups / "cpu"
        if not controllers or "cpu" in controllers.split(","):
            inner = root / path.strip("/")
            found += [inner, *(p for p in inner.parents if p.is_relative_to(root))]
    return found


def _quota(folder: Path) -> float:
    """Return the cores that a control group may use, 0 if it has no limit."""
    words = _read(folder / "cpu.max").split() or [
        *_read(folder / "cpu.cfs_quota_us").split(),
        *_read(folder / "cpu.cfs_period_us").split(),
    ]
    try:
        quota, period = map(int, words)
    except ValueError:  # "max", or no such file
        return 0.0
    return quota / period if quota > 0 and period > 0 else 0.0


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError:
        return ""
