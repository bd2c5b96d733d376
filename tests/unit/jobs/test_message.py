"""What a message says, and what becomes of work that could not be done."""

from __future__ import annotations

import json
from uuid import UUID

import pytest

from hindsight_aws.errors import DatabaseRefused, DatabaseUnavailable
from hindsight_aws.jobs.message import each, ids_of, kind_of, not_done
from hindsight_aws.jobs.outcomes import Outcome

FIRST, SECOND = UUID(int=1), UUID(int=2)


def test_ids_come_in_the_order_in_which_they_are_asked_for() -> None:
    body = json.dumps({"a": str(FIRST), "b": str(SECOND), "c": "no id"})

    assert ids_of(body, "b", "a") == (SECOND, FIRST)


@pytest.mark.parametrize("body", ["", "null", "[]", '"a"', "7", "{}", '{"a": "x"}', '{"a": null}', "{"])
def test_what_is_no_such_message_is_refused(body: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # json's own and ours alike
        ids_of(body, "a")


@pytest.mark.parametrize(("body", "kind"), [('{"kind": "links"}', "links"), ("{}", None), ("[]", None), ("{", None)])
def test_a_message_may_say_of_what_kind_it_is(body: str, kind: str | None) -> None:
    assert kind_of(body) == kind


def test_what_may_pass_is_woken_again_and_what_stays_is_not() -> None:
    woken: list[str] = []

    passing = not_done(DatabaseUnavailable("gone"), lambda: woken.append("again"))
    staying = not_done(DatabaseRefused("23514"), lambda: woken.append("never"))

    assert (passing, staying) == (Outcome.DONE, Outcome.GIVEN_UP)
    assert woken == ["again"]


@pytest.mark.parametrize(("outcome", "lines"), [(Outcome.DONE, 0), (Outcome.GIVEN_UP, 1)], ids=["done", "given-up"])
def test_work_that_is_given_up_is_logged_without_what_the_message_says(
    outcome: Outcome, lines: int, caplog: pytest.LogCaptureFixture
) -> None:
    def handle(_: str) -> Outcome:
        return outcome

    each(handle)("a body of the message")

    assert [record.levelname for record in caplog.records] == ["WARNING"] * lines
    assert "a body" not in caplog.text
