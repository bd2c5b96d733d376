"""Makes a bank out of an archive, batch by batch, in a bank that nobody sees until it is whole.

Called by run.py.  Each batch is one transaction under the operation's fence that also notes how far the work is, so
that whoever comes after a killed worker goes on with the next one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from hindsight_aws.configuration.config import changed
from hindsight_aws.errors import ArchiveRefused, Conflict, InvalidRequest
from hindsight_aws.faults import reached
from hindsight_aws.model.ids import BankId, TenantId, derived_uuid
from hindsight_aws.model.operation import Lease, Progress
from hindsight_aws.ports.model_gateway import Embedder, Embedding, JsonObject, ModelUsage, serving
from hindsight_aws.ports.transfers import NewBank, TransferPlace
from hindsight_aws.settings import Settings
from hindsight_aws.transfer import points
from hindsight_aws.transfer.check import check_row
from hindsight_aws.transfer.kinds import BANK, KINDS, Kind
from hindsight_aws.transfer.moving import Moved
from hindsight_aws.transfer.ports import TransferPorts
from hindsight_aws.transfer.reader import ArchiveReader
from hindsight_aws.transfer.task import TransferTask
from hindsight_aws.transfer.vectors import paid_anew, vector_of
from hindsight_aws.usage.ledger import ledger_entries

_MOST_ROWS: Final = 2_000
_MOST_WITH_VECTORS: Final = 250
_MOST_BYTES: Final = 4 * 1024 * 1024


@dataclass(slots=True)
class Restoring:
    """One attempt at making a bank; `place` is what is committed of it."""

    ports: TransferPorts
    tenant_id: TenantId
    lease: Lease
    task: TransferTask
    reader: ArchiveReader
    place: TransferPlace
    give_up_at: float
    bank_id: BankId = field(init=False)
    moved: Moved = field(init=False)
    embedder: Embedder = field(init=False)

    def __post_init__(self) -> None:
        self.bank_id = BankId(derived_uuid("restored bank", self.lease.operation_id))
        self.moved = Moved(self.tenant_id, self.bank_id)
        with self.ports.store.transaction(self.tenant_id) as tx:
            begun = tx.banks.by_id(self.bank_id)
        # A deployment may have changed the model of new banks since the first batch.
        self.embedder = serving(self.ports.embedder, None if begun is None else begun.embedding_model)

    def run(self) -> bool:
        """Writes what is left to be written; False when the time is up before its end, and another has to go on.

        Guarantees: one batch at least is written by each call, so that calls come to an end.

        Raises: ArchiveRefused, WorkSuperseded, what the Embedder and the database do.
        """
        for kind in self._kinds():
            for start, rows in self._batches(kind):
                self._write(kind, start + len(rows), rows)
                if time.monotonic() > self.give_up_at:
                    return False
        return True

    def end(self) -> NewBank:
        """What the bank is called and set to.  Raises: ArchiveRefused."""
        task, has_vectors = self.task, any(kind.embeds for kind in self._kinds() if self._is_there(kind))
        model = self.embedder.model if has_vectors else None
        name, config = _bank_of(self.reader, self.ports.settings) if "config" in task.parts else (None, "{}")
        return NewBank(task.target or self.reader.manifest.bank, name, config, model)

    def _kinds(self) -> list[Kind]:
        """What is left to be written; what was written before is looked at, for its names."""
        wanted = [kind for kind in KINDS if kind.parts <= self.task.parts and kind is not BANK]
        done = [kind.member for kind in wanted].index(self.place.member) if self.place.member else 0
        return wanted[done:]

    def _is_there(self, kind: Kind) -> bool:
        return kind.member in self.reader.manifest.members

    def learn(self) -> None:
        """Reads again the names of what earlier attempts wrote.  Raises: ArchiveRefused."""
        if self.place.member is None:
            return
        for kind in KINDS:
            if kind.name in self.moved.named:
                for row, _ in self.reader.rows(kind):
                    self.moved.learn(kind, row)
            if kind.member == self.place.member:
                return

    def _batches(self, kind: Kind) -> Iterator[tuple[int, list[JsonObject]]]:
        start = self.place.line if kind.member == self.place.member else 0
        most = _MOST_WITH_VECTORS if kind.embeds else _MOST_ROWS
        batch: list[JsonObject] = []
        size = 0
        for row, length in self.reader.rows(kind, start):
            batch.append(row)
            size += length
            if len(batch) >= most or size > _MOST_BYTES:
                yield start, batch
                start, batch, size = start + len(batch), [], 0
        if batch:
            yield start, batch

    def _write(self, kind: Kind, line: int, rows: Sequence[JsonObject]) -> None:
        usages: list[ModelUsage] = []
        bare = kind.bare if "data" not in self.task.parts else {}
        now = self.ports.clock.now()
        found = [check_row(kind, {**row, **bare}, self.ports.settings, now) for row in rows]
        vectors = self._vectors(kind, found, usages)
        written = [self.moved.row(kind, row) for row in found]
        counts = {**self.place.counts, kind.name: line}
        self.place = replace(self.place, target_id=self.bank_id, member=kind.member, line=line, counts=counts)
        progress = Progress(kind.name, sum(counts.values()), self.reader.manifest.rows)
        costs = ledger_entries(usages, self.lease.subject, self.lease.bank_id, self.lease.operation_id)
        reached(points.BEFORE_BATCH)
        with self.ports.store.transaction(self.tenant_id) as tx:
            tx.operations.renew(self.lease, self.ports.settings.hindsight_transfer_lease_seconds, progress)
            tx.transfers.move(self.lease, self.place)
            tx.transfers.make_bank(self.lease, self.bank_id, self.embedder.model)
            tx.transfers.write(self.bank_id, kind.name, written, vectors)
            tx.usage.record(costs)
        reached(points.AFTER_BATCH)

    def _vectors(self, kind: Kind, rows: Sequence[JsonObject], usages: list[ModelUsage]) -> list[Embedding | None]:
        """The rows' vectors, of the model that the bank was begun with; the rows then say so."""
        if kind.embeds is None:
            return []
        embedder = self.embedder
        if self.reader.manifest.embedding_model == embedder.model:
            vectors = [vector_of(row.get("vector")) for row in rows]
        else:
            vectors = paid_anew(self.ports, self.tenant_id, self.lease, (kind, rows), embedder, usages)
        for row in rows:
            if row.get("embedding_model") is not None:
                row["embedding_model"] = embedder.model
        return vectors


def name_is_taken(target: str) -> Conflict:
    """The error for a bank that came to be while it was being restored."""
    return Conflict(f"'{target}' is already taken by another bank or alias")


def _bank_of(reader: ArchiveReader, settings: Settings) -> tuple[str | None, str]:
    """The name and the settings of the archive's bank, the settings as they were written.  Raises: ArchiveRefused."""
    for row, _ in reader.rows(BANK):
        name, config = row.get("name"), row.get("config")
        if not isinstance(name, str | None) or not isinstance(config, str):
            raise ArchiveRefused("bank.jsonl: name and config must be texts")
        try:
            overrides = json.loads(config)
            if not isinstance(overrides, dict):
                raise ArchiveRefused("bank.jsonl: config must be a JSON object")
            changed(settings, {}, overrides)
        except (ValueError, RecursionError):
            raise ArchiveRefused("bank.jsonl: config must be JSON") from None
        except InvalidRequest as wrong:
            raise ArchiveRefused(f"bank.jsonl: config: {wrong}") from wrong
        return name, config
    return None, "{}"
