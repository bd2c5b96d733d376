"""What became of a write, asked by its token: pending, stored, consolidated; nothing for anybody else's token."""

from __future__ import annotations

from uuid import uuid4

import pytest

from hindsight_aws.errors import ModelRefused
from hindsight_aws.model.ids import OperationId, TenantId
from hindsight_aws.model.watermark import Watermark, WatermarkState, read_watermark, watermark
from hindsight_aws.retain import RetainItem
from hindsight_aws.store.postgres import PostgresStore
from tests.integration.operations.conftest import Desk
from tests.integration.retain.conftest import Workshop
from tests.support.database import Database, make_tenant


def _state(
    workshop: Workshop, token: str | None, bank: str = "bank", store: PostgresStore | None = None,
    tenant: TenantId | None = None,
) -> WatermarkState | None:  # fmt: skip
    assert token is not None
    with (store or workshop.store).transaction(tenant or workshop.tenant) as tx:
        found = tx.banks.find(bank)
        assert found is not None
        known = tx.operations.watermark_state(found.bank_id, read_watermark(token))
    return None if known is None else known.state


def _consolidated(workshop: Workshop) -> None:
    workshop.change("UPDATE consolidation_work SET state = 'done', done_at = now()")


def test_a_write_is_pending_then_stored_then_consolidated(workshop: Workshop, read_store: PostgresStore) -> None:
    token = workshop.submit(*(RetainItem(f"{number}.", document_id=f"d{number}") for number in range(3))).watermark
    seen = [_state(workshop, token)]
    workshop.deliver_all()
    seen.append(_state(workshop, token))
    _consolidated(workshop)
    seen.append(_state(workshop, token))

    assert seen == ["pending", "stored", "consolidated"]
    assert _state(workshop, token, store=read_store) == "consolidated"
    read_store.close()


def test_a_sync_write_is_stored_when_it_is_answered(workshop: Workshop) -> None:
    token = workshop.retain(RetainItem("Here.")).watermark

    assert _state(workshop, token) == "stored"


def test_later_writes_do_not_hold_an_earlier_one_up(workshop: Workshop) -> None:
    token = workshop.retain(RetainItem("First.", document_id="a")).watermark
    _consolidated(workshop)
    workshop.retain(RetainItem("Second.", document_id="b"))
    workshop.submit(RetainItem("Third."))

    assert _state(workshop, token) == "consolidated"


def test_a_write_over_several_strategies_is_pending_until_all_of_it_ended(workshop: Workshop) -> None:
    token = workshop.submit(RetainItem("a", document_id="a", strategy="s1"), RetainItem("b", document_id="b")).watermark
    tenant, first, _ = workshop.wakeups.operations.pop(0)
    workshop.deliver(tenant, first)

    assert _state(workshop, token) == "pending"
    workshop.deliver_all()
    assert _state(workshop, token) == "stored"


def test_a_write_that_failed_or_was_cancelled_has_ended(workshop: Workshop, desk: Desk) -> None:
    workshop.model.script = lambda _call: ModelRefused("not this")
    failed, cancelled = workshop.submit(RetainItem("x")), workshop.submit(RetainItem("y"))
    assert cancelled.operation_id is not None
    desk.cancel(cancelled.operation_id)
    workshop.deliver_all()

    assert [_state(workshop, each.watermark) for each in (failed, cancelled)] == ["consolidated", "consolidated"]


def test_a_token_of_another_tenant_another_bank_or_nobody_finds_nothing(workshop: Workshop, database: Database) -> None:
    token = workshop.retain(RetainItem("Mine.")).watermark
    stranger = make_tenant(database, "stranger")
    for tenant, bank in ((stranger, "bank"), (workshop.tenant, "other")):
        with workshop.store.transaction(tenant) as tx:
            tx.banks.create_if_missing(bank)
    assert token is not None
    mine = read_watermark(token)
    half = watermark(mine.position, [*mine.operation_ids, OperationId(uuid4())]).encode()

    assert _state(workshop, token, tenant=stranger) is None
    assert _state(workshop, token, bank="other") is None
    assert _state(workshop, half) is None


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_repetition_is_answered_with_the_same_token(workshop: Workshop, is_async: bool) -> None:
    mine = uuid4()
    send = workshop.submit if is_async else workshop.retain_as

    first, second = (send(RetainItem("Once."), operation_id=mine).watermark for _ in range(2))

    assert first == second
    assert first is not None
    assert isinstance(read_watermark(first), Watermark)
