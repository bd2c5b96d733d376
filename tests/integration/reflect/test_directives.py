"""Directives in whole runs: they bind the answer, are checked against it, and what breaks them is mended once."""

from __future__ import annotations

from typing import Any

import pytest

from hindsight_aws.directives import manage
from hindsight_aws.directives.manage import DirectiveChange
from hindsight_aws.errors import ModelReplyMalformed, ModelUnavailable
from hindsight_aws.model.directive import Directive
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.tags import TagFilter, TagLeaf
from hindsight_aws.ports.directives import DirectiveText
from hindsight_aws.reflect import runs
from hindsight_aws.reflect.answer.citations import NOTHING_KNOWN
from hindsight_aws.reflect.request import ReflectRequest
from hindsight_aws.store.postgres import PostgresStore
from tests.support.database import Database
from tests.support.reflect import Reply, Rig, done, make_rig, uses
from tests.support.units import Unit

WHO = ReflectRequest("Who pays late?", shows_facts=True)
LATE = Unit("Globex pays its bills late.")
BROKEN = uses(("verify_directives", {"violations": [{"directive_id": "d1", "reason": "It says Globex."}]}))
KEPT = uses(("verify_directives", {"violations": []}))
MENDED = uses(("reflect_rewrite", {"answer": "One of the customers pays late."}))
NAMED = done("Globex pays late.", "f1")


@pytest.fixture
def database(module_database: Database) -> Database:
    """One database for the module: each test has a tenant of its own."""
    return module_database


def bound(database: Database, store: PostgresStore, tenant: TenantId, *replies: Reply, **settings: Any) -> Rig:
    """A bank whose answers must never name a customer, and which knows one."""
    rig = make_rig(database, store, tenant, *replies, **settings)
    rig.remember(LATE)
    rule(rig, "Never name a customer.")
    return rig


def rule(rig: Rig, content: str, *tags: str) -> Directive:
    return manage.create(rig.store, rig.principal, rig.bank, DirectiveText("names", content, tags=tags))


def tasks(rig: Rig) -> list[str]:
    return [call.task for call in rig.model.calls]


def test_a_broken_directive_is_named_to_the_model_and_the_mended_answer_stands(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    """[X045] The issue's own case, with the real planner."""
    rig = bound(database, store, tenant, NAMED, BROKEN, MENDED, KEPT)

    answer: dict[str, Any] = rig.answer(WHO)

    assert tasks(rig) == ["reflect_turn", "verify_directives", "reflect_rewrite", "verify_directives"]
    assert "Globex" not in answer["text"]
    assert (answer["text"], answer["directive_violations"]) == ("One of the customers pays late.", [])
    assert answer["directives_verified"] is True
    assert any("Never name a customer." in block and "It says Globex." in block for block in rig.model.calls[2].blocks)
    assert [named["content"] for named in answer["based_on"]["directives"]] == ["Never name a customer."]
    assert answer["citation_status"] == "cited"


def test_an_answer_that_keeps_its_directives_costs_one_check(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = bound(database, store, tenant, done("A customer pays late.", "f1"), KEPT)

    answer = rig.answer(WHO)

    assert tasks(rig) == ["reflect_turn", "verify_directives"]
    assert (answer["directives_verified"], answer["directive_violations"]) == (True, [])


def test_an_answer_that_stays_broken_says_what_it_breaks(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = bound(database, store, tenant, NAMED, BROKEN, uses(("reflect_rewrite", {"answer": "Globex."})), BROKEN)

    answer: dict[str, Any] = rig.answer(WHO)

    assert len(rig.model.calls) == 4
    assert answer["text"] == "Globex."
    assert [(one["name"], one["reason"]) for one in answer["directive_violations"]] == [("names", "It says Globex.")]


@pytest.mark.parametrize(
    "replies",
    [
        pytest.param((uses(("verify_directives", {"violations": [{"directive_id": "d9"}]})),), id="names no directive"),
        pytest.param((ModelReplyMalformed("unreadable"), ModelReplyMalformed("unreadable")), id="unreadable"),
        pytest.param((ModelUnavailable("gone"),), id="gone"),
    ],
)
def test_an_answer_that_could_not_be_checked_says_so(
    database: Database, store: PostgresStore, tenant: TenantId, replies: tuple[Reply, ...]
) -> None:
    rig = bound(database, store, tenant, done("A customer pays late.", "f1"), *replies)

    answer = rig.answer(WHO)

    assert answer["text"] == "A customer pays late."
    assert answer["directives_verified"] is False
    assert answer["directives_error"]


def test_a_bank_may_do_without_the_check(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    rig = bound(database, store, tenant, done("A customer.", "f1"), bank_defaults=(("verify_directives", "false"),))

    answer = rig.answer(WHO)

    assert tasks(rig) == ["reflect_turn"]
    assert "directives_verified" not in answer


def test_an_empty_bank_answers_without_a_call_and_does_not_tell_its_directives(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    """[X046] Nothing echoes a directive."""
    rig = make_rig(database, store, tenant, done("Paris!"))
    rule(rig, "Always say the word PINEAPPLE.")

    answer = rig.answer(WHO)

    assert answer["text"] == NOTHING_KNOWN
    assert rig.model.calls == []
    assert "PINEAPPLE" not in str(answer)


def test_a_tagged_directive_binds_only_a_request_that_asks_for_its_tags(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    """[X041] [X043] Untagged questions are free of it, unless all are to apply."""
    rig = make_rig(database, store, tenant, done("Globex pays late.", "f1"), done("Globex pays late.", "f1"), KEPT)
    rig.remember(LATE)
    rule(rig, "Never name a customer.", "team:a")

    free = rig.answer(WHO)
    all_of_them: dict[str, Any] = rig.answer(ReflectRequest(WHO.query, shows_facts=True, apply_all_directives=True))

    assert tasks(rig) == ["reflect_turn", "reflect_turn", "verify_directives"]
    assert "directives_verified" not in free
    assert len(all_of_them["based_on"]["directives"]) == 1


def test_a_directive_that_a_key_may_not_read_binds_its_answers_and_is_not_shown(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = make_rig(database, store, tenant, NAMED, BROKEN, MENDED, BROKEN)
    rig.remember(Unit("Globex pays its bills late.", tags=("team:a",)))
    rule(rig, "Never name a customer.")
    limited = Principal(tenant, "limited", forced_tags=TagLeaf(frozenset({"team:a"})))

    answer: dict[str, Any] = rig.answer(WHO, limited)

    assert "directives" in str(rig.model.calls[0].blocks)
    assert (answer["based_on"]["directives"], answer["directive_violations"]) == ([], [{"withheld": True}])
    assert "Never name" not in str(answer)


def test_a_changed_directive_is_not_answered_from_before_and_a_deleted_one_is_kept_nowhere(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = bound(database, store, tenant, done("A customer.", "f1"), KEPT)
    (made,) = applying(rig)
    rig.workflows.runs = False

    first = submit(rig)
    manage.update(rig.store, rig.principal, rig.bank, made.id, DirectiveChange(content="Never name anybody."))
    second = submit(rig)

    assert first != second
    rig.workflows.runs = True
    answered = rig.ask(WHO)
    assert "directives" not in rig.find(answered.run_id).state
    manage.delete(rig.store, rig.principal, rig.bank, made.id)
    assert rig.find(answered.run_id).answer is None


def applying(rig: Rig) -> list[Directive]:
    with rig.store.transaction(rig.tenant) as tx:
        return tx.directives.applying(rig.bank_id, TagFilter())


def submit(rig: Rig) -> object:
    return runs.submit(rig.door, rig.principal, rig.bank, WHO).run_id
