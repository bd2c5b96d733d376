"""The model's file: put together from parts once, vouched for, never half there. Small made-up parts, no download."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from infra.local.bedrock.qwen.gguf import QWEN, Gguf, LocalModelUnavailable, model_file, require_runtime

PIECES = (b"GGUF" * 300, b"middle" * 200, b"end")
WHOLE = b"".join(PIECES)
SMALL = Gguf(
    name="small.gguf",
    size=len(WHOLE),
    sha256=hashlib.sha256(WHOLE).hexdigest(),
    parts=len(PIECES),
    package="made_up_part{n}",
    file="data/part{n:02}.bin",
)


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the import path with one package for each piece."""
    site = tmp_path / "site"
    for number, piece in enumerate(PIECES, 1):
        data = site / f"made_up_part{number}" / "data"
        data.mkdir(parents=True)
        (data.parent / "__init__.py").write_text("raise ImportError('a part is found, never run')")
        (data / f"part{number:02}.bin").write_bytes(piece)
    monkeypatch.syspath_prepend(str(site))
    return site


def test_the_parts_are_joined_in_the_order_of_their_numbers(packages: Path, tmp_path: Path) -> None:
    file = model_file(tmp_path / "models", SMALL)

    assert file.read_bytes() == WHOLE
    assert {path.name for path in file.parent.iterdir()} == {"small.gguf", "lock"}


def test_a_file_that_is_there_is_not_made_again(packages: Path, tmp_path: Path) -> None:
    file = model_file(tmp_path / "models", SMALL)
    made = file.stat().st_mtime_ns
    for part in packages.glob("*/data/*.bin"):
        part.unlink()

    assert model_file(tmp_path / "models", SMALL).stat().st_mtime_ns == made


def test_a_file_of_another_size_is_replaced(packages: Path, tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "small.gguf").write_bytes(WHOLE[:-1])

    assert model_file(tmp_path / "models", SMALL).read_bytes() == WHOLE


def test_what_a_killed_process_left_does_no_harm(packages: Path, tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "small.gguf.partial").write_bytes(b"half of it" * 1_000)

    assert model_file(tmp_path / "models", SMALL).read_bytes() == WHOLE


def test_parts_with_another_digest_are_refused_and_leave_nothing(packages: Path, tmp_path: Path) -> None:
    part = packages / "made_up_part2" / "data" / "part02.bin"
    part.write_bytes(part.read_bytes().replace(b"m", b"n", 1))

    with pytest.raises(LocalModelUnavailable, match="do not make"):
        model_file(tmp_path / "models", SMALL)

    assert [path.name for path in (tmp_path / "models").iterdir()] == ["lock"]


def test_a_missing_part_is_named_in_one_sentence_with_the_way_to_get_it(packages: Path, tmp_path: Path) -> None:
    wanted = replace(SMALL, parts=4)

    with pytest.raises(LocalModelUnavailable) as raised:
        model_file(tmp_path / "models", wanted)

    said = str(raised.value)
    assert said == (
        "Part 4 of 4 of the local model is missing (package made-up-part4): "
        "HINDSIGHT_LOCAL_MODEL=qwen make run installs what it needs."
    )
    assert not (tmp_path / "models").exists()


def test_a_missing_runtime_is_named() -> None:
    with pytest.raises(LocalModelUnavailable, match="needs the package no_such_runtime"):
        require_runtime("no_such_runtime")


def test_the_real_parts_are_those_the_lock_pins() -> None:
    lock = (Path(__file__).parents[5] / "requirements" / "qwen.lock").read_text(encoding="utf-8")

    names = [QWEN.package.format(n=number).replace("_", "-") for number in range(1, QWEN.parts + 1)]

    assert [name for name in names if f"{name}==0.2.0 " not in lock] == []
