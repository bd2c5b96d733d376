"""Named SQL is read whole or not at all."""

from __future__ import annotations

import pytest

from hindsight_aws.store.queries import fragments, parse, queries
from tests.support.statements import topics

_ONE = "-- one --\n-- Does one thing.\nSELECT 1 WHERE {{held}};\n"


def test_a_statement_holds_what_it_shares_with_others() -> None:
    found = parse("topic", _ONE, {"held": "true AND 'a' = 'a'"})

    assert (found["one"].text, found["one"].description) == (b"SELECT 1 WHERE true AND 'a' = 'a'", "Does one thing.")


def test_comments_may_stand_before_the_first_statement() -> None:
    found = parse("topic", "-- What these have in common.\n--\n\n-- one --\n-- Does one thing.\nSELECT 1\n")

    assert {name: query.text for name, query in found.items()} == {"one": b"SELECT 1"}


def test_a_place_that_nothing_fills_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"sql/topic\.sql: there is no fragment held"):
        parse("topic", _ONE, {"other": "true"})


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("SELECT 1", id="no name"),
        pytest.param("SELECT 0;\n-- one --\n-- Does one thing.\nSELECT 1", id="a statement before"),
        pytest.param("-- one --\n-- Does nothing.\n", id="no text"),
        pytest.param("-- one --\n-- Once.\nSELECT 1\n-- one --\n-- Twice.\nSELECT 2", id="a name twice"),
    ],
)
def test_a_file_that_does_not_keep_the_form_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match=r"sql/topic\.sql"):
        parse("topic", source)


def test_every_fragment_is_used_and_no_place_stays_open() -> None:
    texts = [query.text.decode() for topic in topics() for query in queries(topic).values()]

    assert [name for name, text in fragments().items() if not any(text in whole for whole in texts)] == []
    assert not any("{{" in text or "}}" in text for text in texts)
