"""Builds what the rules read."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from infra.local.bedrock.rules.material import Material


def material(*results: JsonValue, **documents: JsonValue) -> Material:
    """The documents by kind, and tool results."""
    return Material({kind: [document] for kind, document in documents.items()}, results)


def shown(prefix: str, texts: Sequence[str | tuple[str, str]]) -> list[JsonValue]:
    """Records with ids `prefix`0, `prefix`1 …, each a text or a text with the time it was mentioned."""
    records: list[JsonValue] = []
    for number, entry in enumerate(texts):
        text, said_at = (entry, "") if isinstance(entry, str) else entry
        record: JsonObject = {"id": f"{prefix}{number}", "text": text, "mentioned_at": said_at}
        records.append(record | {"dates": {"mentioned_at": said_at}})
    return records
