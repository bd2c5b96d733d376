"""A call that was paid for stands in the ledger once, whatever became of the transaction that was to write it."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from hindsight_aws.errors import DatabaseUnavailable
from hindsight_aws.model.ids import BankId, OperationId, TenantId
from hindsight_aws.model.operation import Lease
from hindsight_aws.ports.clock import SystemClock
from hindsight_aws.ports.model_gateway import ModelUsage, TokenUsage
from hindsight_aws.retain.account import Account
from hindsight_aws.usage.allowance import Allowance


@pytest.fixture
def account() -> Account:
    return Account(
        Lease(OperationId(uuid4()), BankId(uuid4()), "retain", "s", {}, None, (), 1, 1, 0, datetime.now(UTC)),
        Allowance(TenantId(uuid4()), SystemClock()),
    )


def _usage(task: str) -> ModelUsage:
    return ModelUsage(task, "p@1", "m", "ok", TokenUsage(input=1), None, 1.0)


def test_lines_that_were_not_committed_are_handed_out_again_the_same(account: Account) -> None:
    account.take(_usage("first"))
    with pytest.raises(DatabaseUnavailable), account.unrecorded() as lost:
        raise DatabaseUnavailable("gone")

    with account.unrecorded() as lines:
        pass

    assert lines == lost
    assert [line.usage.task for line in lines] == ["first"]


def test_lines_that_were_committed_are_not_handed_out_again(account: Account) -> None:
    account.take(_usage("first"))
    with account.unrecorded():
        account.take(_usage("meanwhile"))

    with account.unrecorded() as lines:
        pass

    assert [line.usage.task for line in lines] == ["meanwhile"]
