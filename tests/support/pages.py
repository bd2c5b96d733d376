"""Pages put straight into the tables: for tests of whoever reads them."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from pgvector import HalfVector

from tests.support.admin import changing
from tests.support.reflect import Rig
from tests.support.units import padded

_PAGE = """
INSERT INTO mental_models (tenant_id, bank_id, page_id, model_id, name, source_query, content, embedding,
                           embedding_model, tags, max_tokens, creator, scope_types, last_refreshed_at,
                           last_memory_seen_at, seen_snapshot)
VALUES (%s, %s, %s, %s, %s, 'q', %s, %s, %s, %s, 2048, '{}', '{world,experience,observation}', now(), now(),
        CASE WHEN %s THEN pg_current_snapshot() END)
"""


def put_page(
    rig: Rig, page_id: str, content: str, tags: Sequence[str] = (), *, about: str | None = None, is_fresh: bool = True
) -> None:
    """Puts a page into the rig's bank, with a vector of what it is `about`, else of its own words."""
    (vector,) = rig.embedder.embed([about or content], "document", lambda _: None)
    with changing(rig.database.admin_url) as connection:
        connection.execute(
            _PAGE,
            (
                rig.tenant, rig.bank_id, uuid4(), page_id, page_id.title(), content,
                str(HalfVector(padded(list(vector.values))).to_list()), rig.embedder.model, list(tags), is_fresh,
            ),
        )  # fmt: skip
