"""Loading a model into PyTorch, quietly, onto a device that is there."""

from __future__ import annotations

import logging
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from freshcrawl.stores.base import StoreError
from freshcrawl.stores.cores import usable_cores
from freshcrawl.stores.model_files import check_weights

if TYPE_CHECKING:
    from collections.abc import Iterator

    from freshcrawl.stores.model_files import ModelFiles


def load_model(files: ModelFiles, *, device: str = "cpu", threads: int = 0, **options: Any) -> Any:
    """Return the SentenceTransformer of ``files``, after a check of its weights.

    ``threads``: of PyTorch in this process, 0 for one each usable core. ``options``
    go to SentenceTransformer.

    Raises:
        StoreError: it cannot be loaded, or there is no such device.
    """
    check_weights(files)
    local = not files.revision
    with _quiet(offline=local):
        import torch
        from sentence_transformers import SentenceTransformer

        check_device(device)
        torch.set_num_threads(threads or usable_cores())
        try:
            return SentenceTransformer(
                files.source,
                device=device,
                revision=files.revision or None,
                local_files_only=local,
                **options,
            )
        except Exception as error:  # the loaders raise those of several libraries
            reason = str(error).partition("\n")[0]
            raise StoreError(f"{files.identity}: cannot be loaded: {reason}") from error


def check_device(name: str) -> None:
    """Make sure that PyTorch has a device here.

    Raises:
        StoreError: it has not; says which it has.
    """
    import torch

    counts = {"cpu": 1}
    if torch.accelerator.is_available():
        kind = torch.accelerator.current_accelerator()
        counts[kind.type if kind else "cpu"] = torch.accelerator.device_count()
    try:
        device = torch.device(name)
    except RuntimeError:  # not even a kind of device
        found = False
    else:
        found = (device.index or 0) < counts.get(device.type, 0)
    if not found:
        there = [
            kind if count == 1 else f"{kind}:0 to {kind}:{count - 1}"
            for kind, count in counts.items()
        ]
        raise StoreError(
            f"FRESHCRAWL_EMBED_DEVICE is {name!r}: PyTorch has no such device here; "
            f"set it to one that is there: {', '.join(there)}"
        )


@contextmanager
def _quiet(*, offline: bool) -> Iterator[None]:
    """Load without progress bars and chatter; ``offline``: without asking the hub."""
    before = os.environ.get("HF_HUB_OFFLINE")
    if offline:
        os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        import transformers

        chatter: Any = transformers.logging
        chatter.disable_progress_bar()
        chatter.set_verbosity_error()
        logging.getLogger("sentence_transformers").setLevel(logging.WARNING)
        yield
    finally:
        if offline and before is None:
            del os.environ["HF_HUB_OFFLINE"]
