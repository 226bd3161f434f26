"""What to do when the machine refuses: asked of the error, the disk and the process itself."""

from __future__ import annotations

import errno
import os
import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

DISK_FULL = "the disk is full; free some space and run again"
OUT_OF_MEMORY = "out of memory; give the process more (its limit, or that of its container)"
DAMAGED = "the file is damaged; put a backup in its place (it is never recreated by itself)"
_FOLDER = "the file and its folder must be writable by this user"
_DISK = "check the disk and run again"
_FEW_BYTES = 65_536
"""Free space with which SQLite cannot even open a database: it needs 32 KiB beside the file."""
_OF_ERRNO = {
    errno.ENOSPC: DISK_FULL,
    errno.EDQUOT: "the quota of this user is used up; free some space and run again",
    errno.EMFILE: "this process has too many files open; raise its limit (ulimit -n)",
    errno.ENFILE: "this machine has too many files open; close some, or raise fs.file-max",
    errno.ENOMEM: OUT_OF_MEMORY,
    errno.EROFS: (
        "its file system is mounted for reading only; mount it for writing, or set "
        "FRESHCRAWL_STATE_DIR to a folder that can be written"
    ),
    errno.EACCES: _FOLDER,
    errno.EPERM: _FOLDER,
    errno.EIO: _DISK,
}
_OF_SQLITE = {
    sqlite3.SQLITE_BUSY: "another process is writing to it; try again when that has ended",
    sqlite3.SQLITE_CANTOPEN: _FOLDER,
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_FULL: DISK_FULL,
    sqlite3.SQLITE_IOERR: _DISK,
    sqlite3.SQLITE_NOTADB: DAMAGED,
    sqlite3.SQLITE_READONLY: _FOLDER,
}
_UNSAID = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY}
"""What SQLite says for want of space, of descriptors and of permission alike."""


def primary_code(error: BaseException) -> int:
    """Return SQLite's primary result code of an error, 0 if it has none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def is_resource(error: BaseException | None) -> bool:
    """Tell whether this machine is to blame: memory, disk, descriptors, or the permission."""
    return isinstance(error, MemoryError) or (
        isinstance(error, OSError) and error.errno in _OF_ERRNO and not _of_network(error)
    )


def advice(path: Path, error: BaseException) -> str:
    """Return what to do about a file that could not be used, as one clause; empty if unknown."""
    if isinstance(error, MemoryError):
        return OUT_OF_MEMORY
    if isinstance(error, OSError):
        return _OF_ERRNO.get(error.errno or 0, "")
    if isinstance(error, RuntimeError):  # "can't start new thread"
        return "raise the limits of this process (ulimit -u, ulimit -v)"
    code = primary_code(error)
    found = _found_out(path) if code in _UNSAID else ""
    return found or _OF_SQLITE.get(code, "")


def in_one_line(error: BaseException) -> str:
    """Return what an error says and what to do about it, never nothing."""
    if isinstance(error, MemoryError):
        said = " ".join(str(error).split())
        return f"{OUT_OF_MEMORY} ({said})" if said else OUT_OF_MEMORY
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        what = _OF_ERRNO.get(error.errno or 0, "")
        return f"{where}{error.strerror}{f'; {what}' if what else ''}"
    return str(error) or type(error).__name__


def refusal(path: Path, error: Exception) -> str:
    """Return why ``path`` could not be written, in brackets, and what to do.

    FAISS has the system's reason, if at all, in a RuntimeError of several lines of C++.
    """
    number = getattr(error, "errno", None) or _errno_in(str(error))
    if number is None and isinstance(error, MemoryError):
        number = errno.ENOMEM
    if number is None:
        lines = str(error).splitlines() or [type(error).__name__]
        return f"({lines[0][:200]}); {_found_out(path) or _DISK}"
    return f"({os.strerror(number)}); {_OF_ERRNO.get(number, _DISK)}"


def quotes_errno(error: Exception) -> bool:
    """Tell whether a library's error quotes one of the system that is known here."""
    return _errno_in(str(error)) is not None


def _errno_in(text: str) -> int | None:
    """Return the number of the system's error that a text quotes."""
    return next((number for number in _OF_ERRNO if os.strerror(number) in text), None)


def _of_network(error: OSError) -> bool:
    """Tell what a peer or a firewall refused from what this machine did."""
    return isinstance(error, (ConnectionError, TimeoutError)) or error.errno in {
        errno.EACCES,
        errno.EPERM,
    }


def _found_out(path: Path) -> str:
    """Look for what is wrong with a file's place; return what to do, empty if nothing is seen."""
    if path.is_dir():
        return "a folder is in its place; move it away"
    try:
        os.close(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
        disk = os.statvfs(path.parent)
    except OSError as error:
        return _OF_ERRNO.get(error.errno or 0, "")
    if disk.f_flag & os.ST_RDONLY:
        return _OF_ERRNO[errno.EROFS]
    nodes_gone = bool(disk.f_files) and not disk.f_favail
    if disk.f_bavail * disk.f_frsize < _FEW_BYTES or nodes_gone:
        return DISK_FULL
    return ""
