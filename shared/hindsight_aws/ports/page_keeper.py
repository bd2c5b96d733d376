"""What a reflect run that refreshes a page asks of whoever keeps pages.  Fulfilled by mental_models/.

A refresh is a run of kind `refresh`: `Run.request` is the job it searches with, its run id names it for the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.ports.reflect import Run
from hindsight_aws.ports.store import Transaction


@dataclass(frozen=True, slots=True)
class DataBlock:
    """A block of data shown with a model call: its kind, and its content as one JSON document."""

    kind: str
    document: JsonValue


@dataclass(frozen=True, slots=True)
class PageBasis:
    """What a refresh is settled to do, once, when it begins; kept with the run.

    `request` is the job document to search with in place of the run's own: question, filters, window.  `searches` is
    whether there is anything to find; without it the endings are asked at once.  `endings` are the tasks asked in
    turn; with none the run ends without a model call.  `blocks` are shown with each of them, besides the evidence.
    `after` may name `structured_answer`, for a page with a schema.  `kept` is whatever `check` and `commit` want to
    know again.
    """

    request: JsonObject
    endings: tuple[str, ...]
    searches: bool = True
    after: tuple[str, ...] = ()
    blocks: Mapping[str, tuple[DataBlock, ...]] = field(default_factory=dict)
    kept: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FoundPiece:
    """One thing a refresh found: `kind` is `memory`, `observation` or `mental_model`, `id` is its id in the store."""

    kind: str
    id: str
    alias: str
    text: str
    date: str | None


class Pages(Protocol):
    """The pages that runs of kind `refresh` write."""

    def basis(self, tx: Transaction, run: Run) -> PageBasis:
        """What this refresh is to do.  Raises: NotFound when its page is gone."""
        ...

    def check(self, kept: JsonObject, task: str, reply: JsonObject, said: Mapping[str, JsonObject]) -> str | None:
        """What is wrong with the reply to an ending, for the model; None when nothing is.  Pure.

        `said` holds the endings before it.
        """
        ...

    def blocks(self, kept: JsonObject, task: str, said: Mapping[str, JsonObject]) -> tuple[DataBlock, ...]:
        """Blocks of an ending that depend on the endings before it; in place of those of the same kind.  Pure."""
        ...

    def compose(self, run: Run, kept: JsonObject, said: Mapping[str, JsonObject]) -> JsonObject:
        """What `commit` needs that takes a model: made before, with no transaction open, and kept with the run.

        Raises: what an embedder raises.
        """
        ...

    def commit(
        self,
        tx: Transaction,
        run: Run,
        kept: JsonObject,
        said: Mapping[str, JsonObject],
        found: list[FoundPiece],
        composed: JsonObject,
    ) -> JsonObject:
        """Writes the page from what was said with each ending; returns what the run's answer tells of it.

        `said` lacks an ending for which nothing was found; `composed` is what `compose` gave.  Called once, in the
        transaction that ends the run.
        """
        ...

    def failed(self, tx: Transaction, run: Run, error: str, message: str) -> None:
        """Notes that the refresh gave nothing; `error` is named as errors are.  Called once, as `commit` is."""
        ...
