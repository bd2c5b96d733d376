"""A token holds a write's operations and its position, and nothing else passes for one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.errors import InvalidField
from hindsight_aws.model.ids import OperationId
from hindsight_aws.model.watermark import read_watermark, watermark

_NOW = datetime(2026, 6, 1, 12, 0, 0, 123456, tzinfo=UTC)
_MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(9000, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001  bounds are naive


@given(_MOMENTS, st.lists(st.uuids(), min_size=1, max_size=20, unique=True))
def test_what_a_token_was_made_of_can_be_read_from_it(position: datetime, ids: list[UUID]) -> None:
    made = watermark(position, [OperationId(each) for each in ids])

    assert read_watermark(made.encode()) == made


def test_a_token_is_short_and_fits_a_header_and_a_url() -> None:
    token = watermark(_NOW, [OperationId(uuid4())]).encode()

    assert len(token) < 40
    assert token.replace("-", "").replace("_", "").isalnum()


@pytest.mark.parametrize(
    "token",
    ["", "x", "AQ", "not a token", "é", "=" * 8, "A" * 34, "B" * 5_000, watermark(_NOW, []).encode(),
     watermark(_NOW + timedelta(1), [OperationId(uuid4())] * 33).encode()],
)  # fmt: skip
def test_what_is_no_token_is_refused_by_name(token: str) -> None:
    with pytest.raises(InvalidField, match="after is not a watermark"):
        read_watermark(token)
