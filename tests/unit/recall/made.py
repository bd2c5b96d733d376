"""Made-up results for the tests of recall's pure parts."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID, uuid5

from hindsight_aws.model.ids import DocumentId, UnitId
from hindsight_aws.model.recalled import RankedUnit, RecalledUnit, Scores

NOW = datetime(2026, 3, 11, 15, 30, tzinfo=UTC)


def unit_id(number: int) -> UnitId:
    """A memory's id whose order is the number's."""
    return UnitId(UUID(int=number))


def unit(
    number: int = 1,
    text: str = "tea",
    fact_type: str = "world",
    *,
    occurred: tuple[datetime | None, datetime | None] = (None, None),
    mentioned_at: datetime | None = None,
    proof_count: int = 1,
    document: str | None = None,
    metadata: dict[str, str] | None = None,
    tags: tuple[str, ...] = (),
    place: tuple[int, int] | None = None,
) -> RecalledUnit:
    """A memory as recall reads it; `place` is its chunk's in the document, and its own in that."""
    return RecalledUnit(
        id=unit_id(number),
        fact_type=fact_type,
        text=text,
        context=None,
        occurred_start=occurred[0],
        occurred_end=occurred[1],
        mentioned_at=mentioned_at,
        metadata=metadata or {},
        tags=tags,
        proof_count=proof_count,
        document_id=None if document is None else DocumentId(uuid5(UUID(int=900), document)),
        document=document,
        chunk_index=None if document is None else (place or (0, 0))[0],
        ordinal=(place or (0, 0))[1],
    )


def result(number: int, text: str = "tea", fact_type: str = "world", final: float = 1.0) -> RankedUnit:
    """A memory with a final score."""
    return RankedUnit(unit(number, text, fact_type), Scores(final))
