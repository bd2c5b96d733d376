"""Chunking holds a long text once, not twice: measured in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.conftest import Dose

_MEASURED = """
import sys
from hindsight_aws.retain.chunking.chunk import each_chunk
from tests.support.memory import peak_mb
opening, unit, closing, size = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
text = opening + unit * (size // len(unit)) + closing
before = peak_mb()
longest = max(len(chunk) for chunk in each_chunk(text, 3000))
print(longest, before, peak_mb())
"""
_TURN = '{"role": "user", "content": "Something was said, and it was about as long as this."}'
_TEXTS = {
    "prose": ("", "One sentence that fills. Another one, with a comma; and more!\n", ""),
    "one-word": ("", "x", ""),
    "json": (f"[{_TURN}", f", {_TURN}", "]"),
    "json-lines": ("", f"{_TURN}\n", ""),
    "one-turn": ('[{"role": "user", "content": "', "One sentence. ", '"}]'),
}
_MOST_MB = 200
_SLACK_MB = 10


@pytest.mark.parametrize("kind", _TEXTS)
def test_a_long_text_is_chunked_within_little_more_than_its_own_size(kind: str, dose: Dose) -> None:
    """[R037]: 45 MB in the deep dose, 5 MB in the gate."""
    megabytes = 45 if dose == "deep" else 5

    run = subprocess.run(
        [sys.executable, "-c", _MEASURED, *_TEXTS[kind], str(megabytes * 1_000_000)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )

    longest, before, peak = (int(number) for number in run.stdout.split())
    assert longest <= 3000
    assert peak <= before + 3 * megabytes + _SLACK_MB
    assert peak < _MOST_MB
