"""What a tool is run with, and the form in which it answers memories.  Called by the tools; reads nothing itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from hindsight_aws.access import DocumentSight, PageSight, Sight, document_sight, page_sight, sight
from hindsight_aws.configuration.config import BankConfig
from hindsight_aws.model.ids import BankId
from hindsight_aws.model.recalled import RecalledUnit
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue, QueryVector
from hindsight_aws.ports.recall import TimeFilter
from hindsight_aws.reflect.conversation.calls import MOST_TOKENS
from hindsight_aws.reflect.ports import ReflectPorts
from hindsight_aws.reflect.request import ReflectJob

_CONTEXT_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Question:
    """What a run is asked, as its tools say it, and its vector."""

    text: str
    vector: QueryVector


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool is run with: for whom, on which bank, by its settings, and how many tokens it may be asked for.

    `question` is the run's, where its vector was made already.
    """

    ports: ReflectPorts
    job: ReflectJob
    bank_id: BankId
    config: BankConfig
    room: int = MOST_TOKENS
    question: Question | None = None

    @property
    def sight(self) -> Sight:
        """The memories that may be shown."""
        return memory_sight(self.job)

    @property
    def documents(self) -> DocumentSight:
        """The documents that may be shown."""
        return documents_of(self.job)

    @property
    def pages(self) -> PageSight:
        """The pages that may be shown."""
        return page_sight(self.job.principal, self.job.request.tags, self.job.request.fact_types)

    def vector_of(self, query: str) -> QueryVector | None:
        """The query's vector where it was made already."""
        return self.question.vector if self.question is not None and self.question.text == query else None

    @property
    def times(self) -> TimeFilter:
        """Within which bounds a memory must have been changed last."""
        return TimeFilter(self.job.request.updated_after, self.job.request.updated_before)


def memory_sight(job: ReflectJob) -> Sight:
    """The memories that the answer to this caller's question may rest on."""
    return sight(job.principal, job.request.fact_types, job.request.tags)


def documents_of(job: ReflectJob) -> DocumentSight:
    """The documents that may be opened beneath it."""
    return document_sight(job.principal, job.request.tags)


def record_of(unit: RecalledUnit, entities: Sequence[str]) -> JsonObject:
    """A memory as a model should read it: no scores, no nulls, minutes at most, an end only where it differs."""
    end = unit.occurred_end if unit.occurred_end != unit.occurred_start else None
    record: JsonObject = {
        "id": str(unit.id),
        "text": unit.text,
        "context": short(unit.context),
        "occurred_start": minute(unit.occurred_start),
        "occurred_end": minute(end),
        "mentioned_at": minute(unit.mentioned_at),
        "tags": list(unit.tags),
        "metadata": dict[str, JsonValue](unit.metadata or {}),
        "entities": list(entities),
    }
    return without_blanks(record)


def without_blanks(record: JsonObject) -> JsonObject:
    """The record without what says nothing: nulls, empty texts and lists; false and 0 do say something."""
    return {name: value for name, value in record.items() if value or value is False or value == 0}


def short(context: str | None) -> str | None:
    """The beginning of a context."""
    return context[:_CONTEXT_CHARACTERS] if context else None


def minute(moment: datetime | None) -> str | None:
    """A moment as the model reads it: seconds say nothing to it."""
    return None if moment is None else moment.isoformat(timespec="minutes")
