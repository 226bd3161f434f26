"""Vectors from the int8 file of a model, by ONNX Runtime. No torch."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any

from freshcrawl.stores.base import StoreError
from freshcrawl.stores.cores import usable_cores
from freshcrawl.stores.local_model import tokenizer_of, unit_rows
from freshcrawl.stores.model_facts import pooling, token_limit

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from freshcrawl.stores.base import Matrix

HIDDEN = "last_hidden_state"
"""Name of the graph's one output, the vectors of tokens."""


class OnnxSession:
    """An opened int8 file, with the tokenizer, limit and pooling of the model's folder.

    Raises:
        StoreError: the file cannot be opened, or the pooling is not known here.
    """

    def __init__(self, path: Path, folder: Path, threads: int = 0) -> None:
        self._pooling = pooling(folder)
        self._threads = threads or usable_cores()
        self._session = _open(path)
        self._inputs = {one.name for one in self._session.get_inputs()}
        self._tokenizer = tokenizer_of(folder).loaded
        self._tokenizer.enable_truncation(token_limit(folder))

    def vectors(self, texts: Sequence[str], dimension: int) -> Matrix:
        """Return the first ``dimension`` numbers of each text's vector, normalised, in rows.

        Each text is computed by itself: int8 numbers are scaled by the largest in sight, so that
        in a batch the vector of a text would depend on the others, by up to 0.03 a number. It
        needs no padding either. The longest come first, for the threads to end together.
        """
        import numpy as np

        encodings = self._tokenizer.encode_batch(list(texts))
        rows = np.zeros((len(texts), dimension), dtype=np.float32)

        def compute(number: int) -> None:
            vector = self._vector(encodings[number])[:dimension]
            rows[number] = vector / max(float(np.linalg.norm(vector)), 1e-12)

        order = sorted(range(len(texts)), key=lambda number: -len(encodings[number].ids))
        workers = min(self._threads, len(texts))
        if workers < 2:
            for number in order:
                compute(number)
        else:
            list(self._pool.map(compute, order))
        return unit_rows(rows)

    def _vector(self, encoding: Any) -> Matrix:
        import numpy as np

        columns = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        given = {
            name: np.array([column], dtype=np.int64)
            for name, column in columns.items()
            if name in self._inputs
        }
        tokens = self._session.run([HIDDEN], given)[0][0]
        return tokens[0] if self._pooling == "cls" else tokens.mean(axis=0)  # type: ignore[no-any-return]

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._threads, "onnx")


def _open(path: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # Texts are spread over threads of our own, which do not spin while they wait.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors
    try:
        return onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
    except Exception as error:  # classes of its own for each kind of failure
        reason = str(error).partition("\n")[0]
        raise StoreError(f"{path}: cannot be used, delete it: {reason}") from error
