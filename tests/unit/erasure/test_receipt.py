"""The receipt's one form: every reader makes the same bytes of it, and any change makes others."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from hindsight_aws.erasure import canonical, digest_of, document_of, statement_of
from hindsight_aws.model.erasure import Erasure, ErasureId
from hindsight_aws.model.ids import BankId, TenantId

TENANT = TenantId(UUID(int=1))
ERASURE = Erasure(
    erasure_id=ErasureId(UUID(int=2)),
    bank_id=BankId(UUID(int=3)),
    bank="Zoë's",
    kind="tags",
    subject="operator",
    tags=("user:zoë",),
    match="any",
    state="unsigned",
    erased={"memory_units": 2, "observation_revisions": 3},
    blanked={"mental_model_revisions": 1},
    queues={"operations": 1},
    object_keys=(),
    objects=0,
    started_at=datetime(2026, 1, 1, tzinfo=UTC),
    ended_at=datetime(2026, 1, 2, tzinfo=UTC),
)


def test_the_digest_of_a_receipt_does_not_move() -> None:
    """Receipts that were signed years ago are verified by this code: a change of form breaks them all."""
    assert (
        digest_of(statement_of(TENANT, ERASURE)) == "e45a931a0b5f22b905b23966aac05f28c13a9be9574cc0d2080b049308d3f7e9"
    )


def test_the_canonical_form_survives_a_reader_of_json() -> None:
    statement = statement_of(TENANT, ERASURE)

    read = json.loads(json.dumps(dict(reversed(statement.items())), ensure_ascii=False, indent=2))

    assert canonical(read) == canonical(statement)
    assert canonical(statement).isascii()


def test_revisions_are_summed_over_what_went_and_what_lost_its_text() -> None:
    assert statement_of(TENANT, ERASURE)["revisions"] == 4


def test_a_receipt_of_other_counts_has_another_digest() -> None:
    other = replace(ERASURE, erased={"memory_units": 3})

    assert digest_of(statement_of(TENANT, other)) != digest_of(statement_of(TENANT, ERASURE))
    assert document_of(TENANT, other)["signature"] is None
