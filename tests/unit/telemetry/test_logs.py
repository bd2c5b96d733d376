"""Log lines say ids, kinds of errors and where they were raised; no secret, and nothing that an error quotes."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import psycopg
import pytest
from botocore.exceptions import ClientError
from pydantic import BaseModel, ValidationError

from hindsight_aws.errors import DatabaseRefused, DatabaseUnavailable, FileUnreadable, HindsightError, InvalidField
from hindsight_aws.telemetry import Event, about, about_another, begin
from hindsight_aws.telemetry.logs import LogLines, write_logs
from hindsight_aws.telemetry.redaction import masked, saying
from tests.support.telling import line_of

CANARY = "the heron on the canal"
KEY = "hsk_" + "k3yK3yK3y" * 4
JWT = ".".join(("ey" + "JhbGciOiJSUzI1NiJ9", "eyJ" + "zdWIiOiJhIn0", "c2lnbmF0dXJl"))


class Body(BaseModel):
    count: int


def _record(message: object, *args: object, error: BaseException | None = None) -> logging.LogRecord:
    info = None if error is None else (type(error), error, error.__traceback__)
    return logging.LogRecord("hindsight_aws.jobs", logging.ERROR, __file__, 1, message, args, info)


def _raised(error: Exception, cause: Exception | None = None) -> Exception:
    try:
        raise error from cause
    except type(error) as raised:
        return raised


def _pydantic() -> ValidationError:
    with pytest.raises(ValidationError) as refused:
        Body.model_validate({"count": CANARY})
    return refused.value


@pytest.fixture(autouse=True)
def no_event() -> Iterator[None]:
    yield
    begin(Event())


@pytest.mark.parametrize(
    "secret",
    [
        f"Bearer {KEY}",
        KEY,
        JWT,
        f"authorization: {JWT}",
        f'{{"Authorization": "Basic {"dXNlcjpwYXNz" * 2}"}}',
        "postgresql://app:s3cretS3cret@db/hindsight",
        "password=s3cretS3cret",
        "X-Amz-Signature=" + "ab12" * 16,
        "AKIA" + "ABCDEFGH12345678",
        "whsec_" + "c2VjcmV0c2VjcmV0",
    ],
    ids=["bearer", "key", "jwt", "header", "json", "url", "password", "signature", "aws", "webhook"],
)
def test_a_secret_is_masked_wherever_it_stands(secret: str) -> None:
    text = masked(f"the call with {secret} failed")

    assert text.startswith("the call with ")
    assert text.endswith(" failed")
    assert "***" in text
    for part in (KEY, JWT, "dXNlcjpwYXNz", "s3cretS3cret", "ab12ab12", "ABCDEFGH", "c2VjcmV0"):
        assert part not in text


@pytest.mark.parametrize(
    "harmless",
    ["operation 5f0c: done", "max_tokens=4096", "the token budget is spent", "https://host:443/path@2", "a basis of 3"],
)
def test_what_is_no_secret_stays_as_it_is(harmless: str) -> None:
    assert masked(harmless) == harmless


def test_an_error_of_ours_says_its_sentence_and_one_that_quotes_its_caller_only_its_kind() -> None:
    assert saying(DatabaseRefused("the database refused a row: 22P05")) == "the database refused a row: 22P05"
    assert saying(InvalidField(f"tags[{CANARY}]", "must be short")) == "InvalidField"
    assert saying(FileUnreadable(f"{CANARY}.pdf", "is empty")) == "FileUnreadable"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (psycopg.errors.UniqueViolation(f"Key (text)=({CANARY}) exists"), "UniqueViolation (23505)"),
        (
            ClientError({"Error": {"Code": "ValidationException", "Message": CANARY}}, "Converse"),
            "ClientError (ValidationException)",
        ),
        (ValueError(f"invalid literal: {CANARY!r}"), "ValueError"),
        (FileNotFoundError(2, "No such file", CANARY), "FileNotFoundError (errno 2)"),
    ],
    ids=["psycopg", "botocore", "builtin", "os"],
)
def test_an_error_of_a_library_says_its_kind_and_code(error: Exception, told: str) -> None:
    assert saying(error) == told


def test_pydantic_says_kinds_of_fault_and_no_input() -> None:
    assert saying(_pydantic()) == "ValidationError (int_parsing)"


def test_a_line_holds_no_word_of_what_failed_nor_of_what_caused_it() -> None:
    cause = psycopg.errors.DataException(f"invalid byte in {CANARY}")
    error = _raised(DatabaseUnavailable("the connection broke"), _raised(cause))

    line = line_of(_record("%s was not done: %s (%s)", "x", ValueError(CANARY), KEY, error=error))

    assert line["message"] == "x was not done: ValueError (***)"
    assert line["errorType"] == "DatabaseUnavailable"
    assert line["errorMessage"] == "the connection broke"
    assert line["causes"] == ["DataException (22000)"]
    assert "test_logs.py" in str(line["stackTrace"])
    assert CANARY not in json.dumps(line)


def test_a_line_says_which_event_it_belongs_to_and_whose_it_is() -> None:
    begin(Event("ingest", "r-1", is_cold_start=True))
    about(tenant="t-1", operation="o-1")

    line = line_of(_record("done"))

    assert {name: line[name] for name in ("function", "requestId", "coldStart", "tenant", "operation")} == {
        "function": "ingest",
        "requestId": "r-1",
        "coldStart": True,
        "tenant": "t-1",
        "operation": "o-1",
    }


def test_the_next_message_of_an_event_is_about_others() -> None:
    begin(Event("ingest", "r-1"))
    about(tenant="t-1", operation="o-1")
    about_another()
    about(tenant="t-2")

    line = line_of(_record("done"))

    assert line["tenant"] == "t-2"
    assert "operation" not in line


def test_on_a_laptop_a_line_is_readable() -> None:
    begin(Event("ingest", "r-1"))
    about(operation="o-1")
    error = _raised(DatabaseUnavailable("the connection broke"))

    text = LogLines(as_json=False).format(_record("it failed", error=error))

    assert "ERROR hindsight_aws.jobs: it failed [operation=o-1]" in text
    assert "DatabaseUnavailable: the connection broke" in text


def test_libraries_are_not_heard_below_warning_whatever_the_level() -> None:
    loggers = [logging.getLogger(name) for name in ("", "hindsight_aws", "functions")]
    before = [(logger.level, [(handler, handler.formatter) for handler in logger.handlers]) for logger in loggers]
    try:
        write_logs("DEBUG", as_json=True)

        assert logging.getLogger("hindsight_aws.jobs").isEnabledFor(logging.DEBUG)
        assert not logging.getLogger("botocore.endpoint").isEnabledFor(logging.INFO)
    finally:
        for logger, (level, handlers) in zip(loggers, before, strict=True):
            logger.setLevel(level)
            logger.handlers[:] = [handler for handler, _ in handlers]
            for handler, formatter in handlers:
                handler.setFormatter(formatter)


def test_every_error_of_ours_can_be_told() -> None:
    kinds = [HindsightError]
    for kind in kinds:
        kinds += kind.__subclasses__()

    assert all(isinstance(saying(kind.__new__(kind)), str) for kind in kinds)


def test_lambda_s_own_handler_writes_lines_that_end(monkeypatch: pytest.MonkeyPatch) -> None:
    root = logging.getLogger()
    handler_of_lambda = type("LambdaLoggerHandler", (logging.NullHandler,), {"__module__": "awslambdaric.bootstrap"})
    handler = handler_of_lambda()
    monkeypatch.setattr(root, "handlers", [handler])
    levels = {name: logging.getLogger(name).level for name in ("", "hindsight_aws", "functions")}
    try:
        write_logs("INFO", as_json=True)

        line = handler.format(_record("done"))
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)

    assert line.endswith("}\n")
    assert json.loads(line)["message"] == "done"
