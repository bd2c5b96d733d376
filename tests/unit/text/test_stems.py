"""Stems are the same whoever else is stemming at the moment."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from hindsight_aws.text import stems
from hindsight_aws.text.stems import Script, stem

_WORDS = [f"{beginning}{ending}" for beginning in ("walk", "bak", "plann", "studi") for ending in ("ing", "ed", "es")]


def test_threads_that_stem_at_once_get_what_one_alone_gets(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [stem(Script.LATIN, word) for word in _WORDS]
    stems._stemmer.cache_clear()
    interval = sys.getswitchinterval()
    monkeypatch.delitem(sys.modules, "snowballstemmer.english_stemmer", raising=False)
    sys.setswitchinterval(1e-6)

    try:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda _: [stem(Script.LATIN, word) for word in _WORDS], range(64)))
    finally:
        sys.setswitchinterval(interval)

    assert all(each == expected for each in found)
