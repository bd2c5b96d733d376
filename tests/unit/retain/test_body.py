"""Parts become one text, and can be told apart in it again."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.retain.body import body_of, parts_again, texts_of
from hindsight_aws.retain.intake.accepted import Part

_TURNS = st.lists(st.fixed_dictionaries({"content": st.text(max_size=8)}), min_size=1, max_size=3).map(json.dumps)
_TEXTS = st.lists(st.one_of(st.text(min_size=1, max_size=20), _TURNS), min_size=1, max_size=4)


def _parts(texts: Sequence[str]) -> list[Part]:
    return [Part(place, text, None, True, context=f"c{place}") for place, text in enumerate(texts)]


@given(first=_TEXTS, appended=st.lists(_TEXTS, max_size=3))
def test_every_part_is_found_again_after_any_appends(first: list[str], appended: list[list[str]]) -> None:
    body = body_of(_parts(first))
    for texts in appended:
        before = body.text
        body = body_of(_parts(texts), before, body.parts)
        assert body.text.startswith(before) or _objects(body.text)[: len(_objects(before))] == _objects(before)

    found = texts_of(body.text, body.parts)

    assert found is not None
    sent = [text for texts in (first, *appended) for text in texts]
    assert [_said(text) for text in found] == [_said(text) for text in sent]
    assert [part.context for part in parts_again(body.text, body.parts)] == [
        f"c{place}" for texts in (first, *appended) for place in range(len(texts))
    ]


def test_prose_is_joined_by_a_line_feed_and_arrays_are_merged() -> None:
    one, two = '[{"a": 1}]', '[ {"b": 2} ]'

    assert body_of(_parts(["x", one])).text == f"x\n{one}"
    assert body_of(_parts([two]), one, body_of(_parts([one])).parts).text == '[{"a": 1},{"b": 2}]'


def test_parts_written_down_without_their_places_are_told_apart_by_length() -> None:
    body = body_of(_parts(["One.", "Two, longer."]))
    kept = [{name: value for name, value in part.items() if name != "at"} for part in body.parts]

    assert texts_of(body.text, kept) == ["One.", "Two, longer."]


@pytest.mark.parametrize("length", [3, 99], ids=["shorter", "longer"])
def test_where_they_cannot_be_told_apart_there_is_one_part(length: int) -> None:
    body = body_of(_parts(["One.", "Two."]))
    kept = [{name: value for name, value in part.items() if name != "at"} | {"content": length} for part in body.parts]

    (whole,) = parts_again("One.\nTwo.", kept)

    assert (whole.content, whole.context) == ("One.\nTwo.", "c0")


def _objects(text: str) -> list[object]:
    found: object = json.loads(text)
    assert isinstance(found, list)
    return found


def _said(text: str) -> object:
    try:
        found: object = json.loads(text)
    except ValueError:
        return text
    return found if isinstance(found, list) else text
