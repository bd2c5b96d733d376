"""The policy applied to whole requests: redacted, dropped, refused, counted, and closed where it cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints
from uuid import UUID, uuid4

import pytest

from hindsight_aws.errors import ContentRefused, InvalidField, InvalidRequest, Violation
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.ids import BankId
from hindsight_aws.model.screening import OFF, WITHOUT_RULES, Screening, ScreeningPolicy, parse_policy
from hindsight_aws.retain import RetainItem, RetainRequest
from hindsight_aws.retain.intake.accept import accept
from hindsight_aws.retain.intake.accepted import DocumentTask, Part, to_json
from hindsight_aws.retain.intake.screen import screen
from hindsight_aws.screening import as_result, ledger_lines, policy_of
from hindsight_aws.settings import Settings

KEY = "AKIA" + "IOSFODNN7EXAMPLE"
PASSWORD = "hunter2" + "Zebra!77"
NOW = datetime(2026, 6, 1, tzinfo=UTC)
SAID = {"on": "email", "action": "redact"}


def task(*contents: str, **fields: Any) -> DocumentTask:
    parts = tuple(replace(Part(at, content, None, True), **fields) for at, content in enumerate(contents))
    return DocumentTask(None, "replace", parts)


def under(policy: ScreeningPolicy, *tasks: DocumentTask) -> tuple[list[DocumentTask], Screening]:
    return screen(lambda _strategy: policy, tasks)


def test_every_text_of_an_item_is_redacted_and_each_find_counted() -> None:
    item = task(f"a {KEY} b {KEY}", context=f"c {KEY}", metadata={"k": f"m {KEY}"}, entities=("Ann", f"e {KEY}"))

    (stored,), screening = under(WITHOUT_RULES, item)

    (part,) = stored.parts
    assert part.content == "a [redacted:aws_access_key] b [redacted:aws_access_key]"
    assert part.context == "c [redacted:aws_access_key]"
    assert part.metadata == {"k": "m [redacted:aws_access_key]"}
    assert part.entities == ("Ann",)
    assert screening.redacted == {"aws_access_key": 5}
    assert KEY not in str(screening.as_json())


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"tags": ("a", f"t:{KEY}")}, "tags[1]"),
        ({"observation_scopes": (("a",), (KEY,))}, "observation_scopes[1]"),
        ({"metadata": {KEY: "v"}}, "metadata"),
        ({"strategy": KEY}, "strategy"),
    ],
)
def test_what_tells_things_apart_is_never_made_alike(fields: dict[str, object], where: str) -> None:
    with pytest.raises(ContentRefused) as refused:
        under(WITHOUT_RULES, task("harmless", **fields))

    assert refused.value.violations == (Violation(0, where, "aws_access_key", 1),)
    assert KEY not in str(refused.value)


def planted(kind: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Values of the type, each with the key in another one of the places that hold text, by the path of the place."""
    if kind is str:
        yield place, KEY
    elif get_origin(kind) in (Union, UnionType):
        for each in get_args(kind):
            yield from planted(each, place)
    elif get_origin(kind) is tuple:
        yield from ((at, (value,)) for at, value in planted(get_args(kind)[0], f"{place}[]"))
    elif get_origin(kind) is Mapping:
        of_key, of_value = get_args(kind)
        yield from ((at, {value: "plain"}) for at, value in planted(of_key, f"{place}.key"))
        yield from ((at, {"plain": value}) for at, value in planted(of_value, f"{place}.value"))
    elif is_dataclass(kind):
        hints = get_type_hints(kind)
        needed: dict[str, Any] = {
            field.name: "plain" for field in fields(kind) if field.default is field.default_factory is MISSING
        }
        needed |= {"items": ()} if kind is RetainRequest else {}
        for name, hint in hints.items():
            for at, value in planted(hint, f"{place}.{name}"):
                yield at, cast(Any, kind)(**{**needed, name: value})
    else:
        assert get_origin(kind) is Literal or kind in (bool, datetime, UUID, NoneType), f"{place} is of no known type"


PLANTED = dict(planted(RetainRequest))


@pytest.mark.parametrize("place", PLANTED)
def test_no_text_of_a_request_is_stored_unscreened(place: str) -> None:
    """Walks the request by its types, so that a field that is new is walked as well."""
    asked = PLANTED[place]
    items = tuple(replace(item, document_id=item.document_id or "plain") for item in asked.items)
    tasks = accept(replace(asked, items=items or (RetainItem("plain"),)), NOW, may_fold=True)
    assert KEY in str(to_json(tasks))

    with suppress(ContentRefused):
        stored, screening = under(WITHOUT_RULES, *tasks)

        assert KEY not in str(to_json(stored))
        assert screening.redacted["aws_access_key"] >= 1


def test_an_entity_that_is_left_out_leaves_no_type_behind_and_a_type_no_entity() -> None:
    item = task("x", entities=(KEY, "Ann"), entity_types={KEY: "PERSON", "Ann": KEY})

    (stored,), screening = under(WITHOUT_RULES, item)

    assert (stored.parts[0].entities, stored.parts[0].entity_types) == (("Ann",), {})
    assert screening.redacted == {"aws_access_key": 2}


@pytest.mark.parametrize(
    ("name", "value", "stored"),
    [
        ("password", PASSWORD, "[redacted:assigned_secret]"),
        ("dbPassword", PASSWORD, "[redacted:assigned_secret]"),
        ("X-Api-Key", "Zq81kPq0Lm3Nd7Rt5Vw2", "[redacted:assigned_secret]"),
        ("密码", PASSWORD, "[redacted:assigned_secret]"),
        ("password", "never asked", "never asked"),
        ("room", PASSWORD, PASSWORD),
    ],
)
def test_a_secret_that_only_the_name_of_its_metadata_tells_is_redacted(name: str, value: str, stored: str) -> None:
    (screened,), screening = under(WITHOUT_RULES, task("x", metadata={name: value}))

    assert screened.parts[0].metadata == {name: stored}
    assert screening.redacted == ({"assigned_secret": 1} if stored != value else {})


def test_a_document_id_is_never_made_like_another() -> None:
    with pytest.raises(ContentRefused):
        under(WITHOUT_RULES, replace(task("harmless"), external_id=f"doc-{KEY}"))


def test_a_blocked_item_is_left_out_and_the_others_are_stored() -> None:
    policy = ScreeningPolicy({"us_ssn": "block"})

    (stored,), screening = under(policy, task("fine", "SSN 123-45-6789, 123-45-6780", "fine too"))

    assert [part.content for part in stored.parts] == ["fine", "fine too"]
    assert [part.position for part in stored.parts] == [0, 2]
    assert screening.dropped == (1,)
    assert screening.violations == (Violation(1, "content", "us_ssn", 2),)


def test_a_request_of_blocked_items_alone_is_refused_and_says_where() -> None:
    policy = ScreeningPolicy({"us_ssn": "block"})

    with pytest.raises(ContentRefused) as refused:
        under(policy, task("123-45-6789"), replace(task("123-45-6780"), external_id="d"))

    assert [violation.item for violation in refused.value.violations] == [0, 0]
    assert "123" not in str(refused.value)


def test_overlapping_finds_become_one_placeholder() -> None:
    policy = ScreeningPolicy({"url_password": "redact", "email": "redact"})

    (stored,), _ = under(policy, task("postgres://ann:secret1@example.org/db"))

    assert stored.parts[0].content == "postgres://ann:[redacted:url_password]/db"


def test_a_policy_that_is_off_changes_nothing() -> None:
    text = f"{KEY} ann@example.org"

    (stored,), screening = under(OFF, task(text))

    assert stored.parts[0].content == text
    assert screening.is_silent
    assert as_result(screening) == {}


def test_a_detector_that_fails_lets_nothing_in_and_repeats_nothing() -> None:
    def broken(text: str) -> Iterator[tuple[int, int]]:
        raise ValueError(text)

    with pytest.raises(InvalidField, match=r"items\[0\].content could not be screened") as refused:
        screen(lambda _strategy: WITHOUT_RULES, [task(KEY)], {"aws_access_key": broken})

    assert KEY not in str(refused.value)
    assert refused.value.__cause__ is None


def test_finds_are_counted_in_the_ledger_for_nothing() -> None:
    screening = Screening({"email": 2}, (Violation(0, "content", "us_ssn", 3),))

    lines = ledger_lines(screening, "tester", BankId(uuid4()), None)

    assert [(line.usage.model, line.usage.calls, line.usage.usd) for line in lines] == [
        ("email:redact", 2, Decimal(0)),
        ("us_ssn:block", 3, Decimal(0)),
    ]


def test_a_bank_that_says_nothing_redacts_secrets_and_keeps_people() -> None:
    policy = parse_policy(None, "memory_defense")

    assert policy.action("aws_access_key") == "redact"
    assert policy.action("email") == policy.action("injected_instructions") == "allow"


def test_a_later_rule_changes_an_earlier_one() -> None:
    rules = [
        {"on": "sensitive_data", "action": "redact"},
        {"on": "email", "action": "allow"},
        {"on": "jwt", "action": "block"},
    ]

    policy = parse_policy({"enabled": True, "rules": rules}, "memory_defense")

    assert [policy.action(name) for name in ("phone", "email", "jwt", "ip_address")] == [
        "redact",
        "allow",
        "block",
        "allow",
    ]


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ([], "memory_defense must be an object"),
        ({"rule": []}, "memory_defense has unknown keys"),
        ({"enabled": "no"}, "memory_defense.enabled must be a boolean"),
        ({"rules": {}}, "memory_defense.rules must be a list"),
        ({"rules": [1]}, "memory_defense.rules[0] must be an object"),
        ({"rules": [{"action": "redact"}]}, "memory_defense.rules[0].on must be a string"),
        ({"rules": [SAID, {"on": "x", "action": "block"}]}, "memory_defense.rules[1].on must be one of secrets"),
        ({"rules": [{"on": "email", "action": "burn"}]}, "memory_defense.rules[0].action must be one of allow"),
        ({"enabled": False, "rules": [1]}, "memory_defense.rules[0] must be an object"),
    ],
)
def test_a_malformed_policy_is_refused_and_names_the_entry(value: object, sentence: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse_policy(value, "memory_defense")

    assert str(refused.value).startswith(sentence)


def bank(**overrides: object) -> Bank:
    return Bank(bank_id=BankId(uuid4()), external_id="b", name=None, overrides=overrides, embedding_model=None)


def test_a_stored_policy_that_cannot_be_read_stops_the_bank() -> None:
    with pytest.raises(InvalidField, match="nothing is stored"):
        policy_of(Settings(), bank(memory_defense={"rules": "all"}), None)


def test_a_strategy_of_the_bank_has_a_policy_of_its_own() -> None:
    of_bank = bank(
        memory_defense={"rules": [SAID]},
        retain_strategies={"mail": {"memory_defense": {"enabled": False}}, "other": {}},
    )

    assert policy_of(Settings(), of_bank, "mail") == OFF
    assert policy_of(Settings(), of_bank, "other").action("email") == "redact"
    assert policy_of(Settings(), of_bank, None).action("email") == "redact"
