"""What an attempt brought in, ready to be written.  Made by the job; read by commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hindsight_aws.errors import HindsightError
from hindsight_aws.model.ids import OperationId
from hindsight_aws.ports.memories import NewFact
from hindsight_aws.retain.extraction.found import Extraction
from hindsight_aws.retain.intake.accepted import DocumentTask
from hindsight_aws.retain.plan import DocumentPlan


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that an attempt brought in.  `unfinished` is the work that failed for good, `error` why, naming the items.

    `embedding_model` made the vectors of the facts.  `left_out` is left to later operations, named by document in
    `superseded`.  `volatile`: patterns of tags that make no scope by themselves.
    """

    documents: Sequence[DocumentPlan]
    facts: Sequence[NewFact]
    found: dict[str, Extraction]
    embedding_model: str
    volatile: tuple[str, ...] = ()
    left_out: Sequence[DocumentTask] = ()
    superseded: Mapping[str, OperationId] = field(default_factory=dict)
    problems: Sequence[str] = ()
    unfinished: Sequence[DocumentTask] = ()
    error: HindsightError | None = None

    @property
    def changed(self) -> list[DocumentPlan]:
        """The documents that are written."""
        return [document for document in self.documents if not document.is_unchanged]
