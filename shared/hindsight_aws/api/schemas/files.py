"""Bodies of the calls for files: the `request` part beside the files, and what announces an upload."""

from __future__ import annotations

import json
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, field_validator

from hindsight_aws.api.schemas.tag_list import Tags
from hindsight_aws.api.schemas.text import without_surrogates
from hindsight_aws.errors import InvalidField, InvalidRequest
from hindsight_aws.files import FileOptions, NewUpload
from hindsight_aws.files.requests import PARSERS
from hindsight_aws.retain.intake.timestamps import read_timestamp

_OF_A_FILE = ("document_id", "context", "metadata", "tags", "timestamp", "strategy")


def _as_text(value: object) -> object:
    """A metadata value as text: a number or a flag as JSON writes it."""
    return json.dumps(value) if isinstance(value, bool | int | float) else value


Parser = str | list[str]
Value = Annotated[str | None, BeforeValidator(_as_text)]


class FileMetadata(BaseModel):
    """What is said of one file."""

    document_id: str | None = None
    context: str | None = None
    metadata: dict[str, Value] | None = None
    tags: Tags | None = None
    timestamp: str | None = None
    parser: Parser | None = None
    strategy: str | None = None

    @field_validator("timestamp")
    @classmethod
    def _is_a_time(cls, value: str | None) -> str | None:
        try:
            read_timestamp(value, "timestamp")
        except InvalidField as wrong:
            raise ValueError(f"timestamp {wrong.problem}") from None
        return value

    def as_options(self) -> FileOptions:
        """The options as the use case takes them."""
        return FileOptions(
            document_id=self.document_id,
            context=self.context,
            metadata=self.metadata or {},
            tags=tuple(self.tags or ()),
            timestamp=read_timestamp(self.timestamp, "timestamp"),
            strategy=self.strategy,
        )


class FileRetainRequest(BaseModel):
    """The `request` part: files uploaded before, and what is said of each file, those of the request first."""

    parser: Parser | None = None
    files_metadata: list[FileMetadata] | None = None
    uploads: list[UUID] = Field(default_factory=list)


class UploadBody(BaseModel):
    """A file that is to be uploaded to an address of its own."""

    filename: str
    size: int = Field(ge=1)
    content_type: str = "application/octet-stream"

    def as_upload(self) -> NewUpload:
        """The upload as the use case takes it."""
        return NewUpload(str(without_surrogates(self.filename)), self.content_type, self.size)


def read_request(text: str, files: int) -> tuple[tuple[UUID, ...], tuple[FileOptions, ...]]:
    """The uploads that a `request` part names, and the options of each of the `files` and of those, in that order.

    Raises: InvalidRequest.
    """
    try:
        document = without_surrogates(json.loads(text))
        _check_root(document)
        request = FileRetainRequest.model_validate(document)
    except (ValueError, RecursionError) as wrong:
        raise InvalidRequest(f"Invalid request JSON: {_reason(wrong)}") from None
    count = files + len(request.uploads)
    described = request.files_metadata or [FileMetadata()] * count
    if len(described) != count:
        raise InvalidRequest(f"files_metadata has {len(described)} entries for {count} files: it needs one for each")
    for place, each in enumerate(described):
        _check_parser(each.parser, f"files_metadata[{place}].parser")
    _check_parser(request.parser, "parser")
    return tuple(request.uploads), tuple(each.as_options() for each in described)


def _check_root(document: object) -> None:
    if not isinstance(document, dict):
        raise ValueError("it must be an object")
    misplaced = [name for name in _OF_A_FILE if name in document]
    if misplaced:
        raise InvalidRequest(f"{', '.join(misplaced)}: belongs to one file, in files_metadata, not to the request")
    entries = document.get("files_metadata")
    described = entries if isinstance(entries, list) else []
    if any("update_mode" in entry for entry in (document, *described) if isinstance(entry, dict)):
        raise InvalidRequest("update_mode: a file always replaces its document")


def _check_parser(parser: Parser | None, field: str) -> None:
    names = [parser] if isinstance(parser, str) else parser or []
    unknown = [name for name in names if name not in PARSERS]
    if unknown:
        raise InvalidRequest(f"{field}: no parser is called {unknown[0][:100]!r}; there is {', '.join(PARSERS)}")


def _reason(wrong: Exception) -> str:
    if not isinstance(wrong, ValidationError):
        return str(wrong)[:500]
    return "; ".join(
        f"{'.'.join(str(part) for part in error['loc'])}: {error['msg'].removeprefix('Value error, ')}"
        for error in wrong.errors()[:5]
    )
