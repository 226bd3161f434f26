"""Work on pages in a thread, that leaves the event loop its turn."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")
_PAGES = ThreadPoolExecutor(max_workers=1, thread_name_prefix="freshcrawl-pages")


async def in_turn(func: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function in a thread, one such call of this process at a time; return its result.

    Two at once would not be faster, since Python runs one thread at a time, but
    the event loop would have to wait for both of them before it is its turn.
    """
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_PAGES, partial(func, *args, **kwargs))
