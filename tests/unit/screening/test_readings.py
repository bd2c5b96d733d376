"""A secret is found however the text that is stored spells it, and taken out where it stands."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.model.screening import WITHOUT_RULES, ScreeningPolicy
from hindsight_aws.retain.chunking.chunk import chunk_text
from hindsight_aws.retain.intake.accepted import DocumentTask, Part
from hindsight_aws.retain.intake.screen import screen
from hindsight_aws.screening import redacted
from hindsight_aws.screening.readings import readings

KEY = "AKIA" + "IOSFODNN7EXAMPLE"
PASSWORD = "hunter2" + "Zebra!77"


def _escaped(text: str) -> str:
    return "".join(f"\\u{ord(char):04X}" for char in text)


@pytest.mark.parametrize(
    ("spelled", "detector"),
    [
        (f"{_escaped(KEY[0])}{KEY[1:]}", "aws_access_key"),
        (_escaped(KEY), "aws_access_key"),
        (f"{KEY[:3]}\\u0000{KEY[3:]}", "aws_access_key"),
        (f"{KEY[:3]}\\ud83d{KEY[3:]}", "aws_access_key"),
        (f"\\{_escaped(KEY[0])}{KEY[1:]}", "aws_access_key"),
        (f"postgres:\\/\\/ann:{PASSWORD}@db.example\\/x", "url_password"),
        (f'{{\\"password\\": \\"{PASSWORD}\\"}}', "assigned_secret"),
        (f"\\u5bc6\\u7801: {PASSWORD}", "assigned_secret"),
    ],
    ids=["first letter", "all", "NUL", "half a character", "twice", "slashes", "JSON in JSON", "name"],
)  # fmt: skip
@pytest.mark.parametrize("length", [0, 5_000], ids=["short", "cut by the chunker"])
def test_a_secret_in_escapes_of_a_conversation_is_taken_out_and_the_rest_stays(
    spelled: str, detector: str, length: int
) -> None:
    content = f'[{{"role": "user", "content": "Mine: {spelled} ok Nora {"word " * length}"}}]'

    stored = redacted(WITHOUT_RULES, content, "content")

    assert f"[redacted:{detector}]" in stored
    assert json.loads(stored)[0]["role"] == "user"
    assert " ok Nora word" in stored or not length
    everything = "\n".join([stored, json.loads(stored)[0]["content"], *chunk_text(stored, 1_000)])
    assert KEY not in everything
    assert PASSWORD not in everything


def test_escapes_that_hide_nothing_stay_as_they_were_written() -> None:
    content = '[{"role": "user", "content": "caf\\u00e9 \\"A\\" \\u0041 C:\\\\users"}]'

    assert redacted(WITHOUT_RULES, content, "content") == content


def test_a_find_in_both_readings_is_counted_once() -> None:
    part = Part(0, f'{{"a": "x\\ny {KEY}"}}', None, True)

    _, screening = screen(lambda _: WITHOUT_RULES, [DocumentTask(None, "replace", (part,))])

    assert screening.redacted == {"aws_access_key": 1}


@pytest.mark.parametrize("hostile", ["\\", "\\u0041", f"{KEY}\\n"], ids=["backslashes", "escapes", "finds"])
def test_the_readings_take_time_in_proportion_to_the_text(hostile: str) -> None:
    text = hostile * (1_000_000 // len(hostile))
    started = time.process_time()

    redacted(WITHOUT_RULES, text, "content")

    assert time.process_time() - started < 3.0


def test_a_label_in_escapes_is_refused_like_any() -> None:
    fine = Part(0, "fine", None, True)
    parts = (fine, replace(fine, position=1, tags=(_escaped(KEY),)))

    _, screening = screen(lambda _: ScreeningPolicy({"aws_access_key": "redact"}), [
        DocumentTask(None, "replace", parts)
    ])  # fmt: skip

    assert screening.dropped == (1,)


@given(st.text(alphabet='ab"\\u0041/n\ud83d\ude00é', max_size=40), st.data())
def test_each_character_of_a_reading_is_found_where_it_stands(text: str, data: st.DataObject) -> None:
    for reading in readings(text, data.draw(st.sampled_from(["", "name"]))):
        spans = [(at, at + 1) for at in range(len(reading.text))]

        places = reading.to_source(spans)

        assert places == sorted(places)
        assert all(0 <= start <= end <= len(text) for start, end in places)
        assert all(
            text[start:end] == char or text[start:end].startswith("\\")
            for char, (start, end) in zip(reading.text[-len(places) :] if places else "", places, strict=True)
        )
