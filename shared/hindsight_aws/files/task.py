"""The work of one conversion: a stored file and what its text is to become; and its form as JSON, which rows hold.

Made when files come in; read by the job, in another process and maybe days later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import cast
from uuid import UUID

from hindsight_aws.files.requests import FileOptions
from hindsight_aws.model.document import SourceFile
from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.retain import RetainItem, read_timestamp


@dataclass(frozen=True, slots=True)
class ConversionTask:
    """`options` name a document; `size` is that of the stored bytes."""

    key: str
    name: str
    content_type: str
    size: int
    options: FileOptions

    def item(self, text: str, kept: UUID | None = None) -> RetainItem:
        """The text as an item of a retain; `kept` is the id of the file where its bytes are kept."""
        return RetainItem(
            content=text,
            timestamp=self.options.timestamp,
            context=self.options.context,
            metadata=self.options.metadata,
            document_id=self.options.document_id,
            tags=self.options.tags,
            strategy=self.options.strategy,
            file=SourceFile(self.name, self.content_type, kept),
        )


def to_json(task: ConversionTask) -> JsonObject:
    """The task as the operation's row keeps it."""
    options, timestamp = task.options, task.options.timestamp
    return {
        "file": {"key": task.key, "name": task.name, "content_type": task.content_type, "size": task.size},
        "document_id": options.document_id,
        "context": options.context,
        "metadata": dict(options.metadata),
        "tags": list(options.tags),
        "timestamp": timestamp.isoformat() if isinstance(timestamp, datetime) else timestamp,
        "strategy": options.strategy,
    }


def from_json(payload: Mapping[str, object]) -> ConversionTask:
    """What `to_json` wrote.  Raises KeyError, TypeError or ValueError for anything else."""
    file = cast("dict[str, str]", payload["file"])
    moment = cast("str | None", payload["timestamp"])
    options = FileOptions(
        document_id=cast("str", payload["document_id"]),
        context=cast("str | None", payload["context"]),
        metadata=cast("dict[str, str | None]", payload["metadata"]),
        tags=tuple(cast("list[str]", payload["tags"])),
        timestamp=None if moment is None else read_timestamp(moment, "timestamp"),
        strategy=cast("str | None", payload["strategy"]),
    )
    return ConversionTask(file["key"], file["name"], file["content_type"], int(file["size"]), options)
