"""Each error of the tree has one HTTP answer."""

from __future__ import annotations

import inspect
import json
from datetime import UTC, datetime, timedelta

import pytest
from fastapi.exceptions import RequestValidationError

from hindsight_aws import errors
from hindsight_aws.api import errors as mapping
from hindsight_aws.errors import HindsightError, InvalidField, WorkDeferred

STATUS = {
    "InvalidRequest": 400, "InvalidField": 422, "NotFound": 404, "Conflict": 409, "TooLarge": 413, "AccessDenied": 403,
    "Unauthenticated": 401, "WorkDeferred": 503, "ModelThrottled": 503, "LeaseHeld": 503, "WorkSuperseded": 503,
    "WorkCancelled": 503, "ContentRefused": 422,
    "ArchiveRefused": 400, "LimitReached": 429,
    "WorkCrashed": 502,
    "WorkRaced": 503, "VectorsReplaced": 503,
    "FilesUnavailable": 503, "FileUnreadable": 422, "SignerUnavailable": 503,
    "DatabaseRefused": 500, "DatabaseTooSlow": 504, "DatabaseUnavailable": 503, "NoDatabaseToken": 503,
    "ModelError": 502,
    "ModelUnavailable": 503, "ModelRefused": 502, "ModelDenied": 502,
    "ModelInputTooLong": 502, "ModelReplyMalformed": 502, "ModelReplyTruncated": 502, "HindsightError": 500,
}  # fmt: skip
TREE = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, HindsightError)]


def _made(kind: type[HindsightError]) -> HindsightError:
    if kind is errors.ContentRefused:
        return errors.ContentRefused(())
    return kind("field", "problem") if kind in (InvalidField, errors.FileUnreadable) else kind("a sentence")


@pytest.mark.parametrize("kind", TREE, ids=lambda kind: kind.__name__)
def test_every_error_of_the_tree_has_a_status(kind: type[HindsightError]) -> None:
    assert mapping.status_of(_made(kind)) == STATUS[kind.__name__]


@pytest.mark.parametrize("kind", TREE, ids=lambda kind: kind.__name__)
def test_an_error_has_the_same_status_by_its_name(kind: type[HindsightError]) -> None:
    assert mapping.status_named(kind.__name__) == STATUS[kind.__name__]


@pytest.mark.parametrize("name", ["States.Timeout", "ValueError", "PASSING_FAULTS", ""])
def test_a_name_of_no_error_of_ours_is_500(name: str) -> None:
    assert mapping.status_named(name) == 500


def _answer(error: Exception) -> tuple[int, dict[str, str], object]:
    handle = mapping._on_invalid if isinstance(error, RequestValidationError) else mapping._on_known
    response = handle(None, error)  # type: ignore[arg-type]  # the request is not looked at
    return response.status_code, dict(response.headers), json.loads(bytes(response.body))


def test_an_unknown_caller_hears_why_after_a_fixed_beginning() -> None:
    status, headers, body = _answer(errors.Unauthenticated("the API key has expired"))

    assert (status, body) == (401, {"detail": "Authentication failed: the API key has expired"})
    assert "www-authenticate" not in headers


def test_a_field_that_is_wrong_is_reported_as_validation_does() -> None:
    status, _, body = _answer(InvalidField("items[3].metadata.k", "must be a string"))

    assert status == 422
    assert body == {
        "detail": [
            {
                "type": "value_error",
                "loc": ["body", "items", 3, "metadata", "k"],
                "msg": "Value error, items[3].metadata.k must be a string",
                "input": None,
                "ctx": {"error": {}},
            }
        ]
    }


@pytest.mark.parametrize(("seconds", "wait"), [(None, "1"), (0.2, "1"), (7.2, "8"), (-5, "1"), (3600, "60")])
def test_what_passes_says_when_to_come_again(seconds: float | None, wait: str) -> None:
    until = None if seconds is None else datetime.now(UTC) + timedelta(seconds=seconds)

    status, headers, _ = _answer(WorkDeferred("busy", until))

    assert (status, headers["retry-after"]) == (503, wait)


def test_a_database_that_resumes_is_said_to_and_when_to_come_again() -> None:
    status, headers, body = _answer(errors.DatabaseUnavailable("no connection in time"))

    assert (status, headers["retry-after"]) == (503, "5")
    assert body == {"detail": "no connection in time", "code": "database_unavailable"}


def test_a_fault_of_ours_tells_the_caller_nothing_of_the_inside() -> None:
    status, _, body = _answer(HindsightError("password=hunter2"))

    assert status == 500
    assert "hunter2" not in json.dumps(body)


def test_what_a_caller_sent_is_echoed_short_finite_and_whole() -> None:
    entry = {
        "type": "t",
        "loc": ("body", 1),
        "msg": "m",
        "url": "https://example.com",
        "ctx": {"error": ValueError("x")},
    }
    given = {
        "nan": float("nan"),
        "long": "x" * 5_000,
        "half": "\ud83d",
        "deep": [[[[[[[[1]]]]]]]],
        "many": list(range(100)),
    }

    _, _, body = _answer(RequestValidationError([{**entry, "input": given}]))

    assert isinstance(body, dict)
    shown = body["detail"][0]
    assert "url" not in shown
    assert shown["ctx"] == {"error": {}}
    assert shown["input"]["nan"] == "nan"
    assert len(shown["input"]["long"]) < 1_100
    assert len(shown["input"]["many"]) == 20


KEY = "AKIA" + "IOSFODNN7EXAMPLE"


def _invalid(**fields: object) -> RequestValidationError:
    return RequestValidationError([{"type": "t", "loc": ("body", 1), "msg": "m", "input": None, **fields}])


@pytest.mark.parametrize(
    ("error", "secret"),
    [
        (_invalid(input=KEY), KEY),
        (_invalid(input={"a": [f"see {KEY}"], KEY: 1}), KEY),
        (_invalid(input="\\u0041" + KEY[1:]), KEY[1:]),
        (_invalid(input="hunter2" + "Zebra", loc=("body", "password")), "hunter2"),
        (_invalid(input={"api_key": "Zq81kPq0Lm3Nd7Rt5Vw2"}), "Zq81"),
        (_invalid(input="x" * 995 + f" {KEY}"), KEY[:3]),
        (_invalid(input=4111111111111111), "4111111111111111"),
        (_invalid(msg=f"tag {KEY} is none"), KEY),
        (_invalid(loc=("body", "metadata", KEY)), KEY),
        (_invalid(ctx={"tag": KEY}), KEY),
        (_invalid(input="ann" + "@example.org"), "ann@"),
        (InvalidField(f"items[0].metadata.{KEY}", "must be a string"), KEY),
        (errors.InvalidRequest(f"items[0].document_id: {KEY!r} occurs twice"), KEY),
        (errors.NotFound(f"Bank {KEY} not found"), KEY),
    ],
    ids=["value", "within", "escaped", "named", "key and value", "cut", "number", "sentence", "place", "context",
         "person", "field", "request", "absent"],
)  # fmt: skip
def test_no_error_repeats_what_screening_would_find(error: Exception, secret: str) -> None:
    _, _, body = _answer(error)

    assert secret not in json.dumps(body)
