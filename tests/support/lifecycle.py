"""A bank that anything may happen to: documents come, change and go, facts are corrected, workers die, messages stray.

One bank, two workers and a desk, each on a connection of its own; messages lie in a pool until somebody delivers,
doubles or loses them.  A worker dies at the n-th fault point that it reaches, commits among them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from typing import Any, Final
from uuid import UUID

import psycopg
from psycopg.rows import DictRow

from hindsight_aws import curation
from hindsight_aws.consolidate.ports import ConsolidationPorts
from hindsight_aws.consolidate.submit import recover
from hindsight_aws.consolidate.submit import submit as consolidate_now
from hindsight_aws.curation import Correction, CurationPorts, Edit
from hindsight_aws.documents import DocumentPatch, DocumentPorts, delete_document, patch_document
from hindsight_aws.errors import (
    Conflict,
    HindsightError,
    InvalidRequest,
    NotFound,
)
from hindsight_aws.jobs.consolidate import consolidate
from hindsight_aws.jobs.ingest import ingest
from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.scope import ObservationScopes, resolve_scopes
from hindsight_aws.ports.clock import SystemClock
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from hindsight_aws.retain import RetainItem, RetainPorts, RetainRequest, submit
from hindsight_aws.retain.intake.accepted import scopes_from_json
from hindsight_aws.settings import Settings
from hindsight_aws.store.postgres import PostgresStore
from tests.support.database import Database, make_tenant
from tests.support.invariants import broken, near_twins, stranded
from tests.support.models import HashEmbedder, NotedWakeups, ScriptedModel, block, one_fact_per_line
from tests.support.moods import CHATTER, LEAVING_OUT, revised
from tests.support.sweeping import quiet_pages, sweep_once

BANK: Final = "bank"
DOCUMENTS: Final = ("letter", "diary", "memo")
TAGS: Final[tuple[tuple[str, ...], ...]] = (
    (),
    ("user:a",),
    ("user:a", "team:x"),
    ("session:1",),
    ("team:x", "session:2"),
)
SCOPES: Final[tuple[ObservationScopes | None, ...]] = (
    None,
    "per_tag",
    "shared",
    (("team:*",), ("user:a",)),
    (("co:*",),),
)
_SUBJECTS: Final = ("Ann", "Bob", "Cyd")
_SEEN: Final = (
    "SELECT id, fact_type FROM memory_units WHERE bank_id = %s AND fact_type <> 'shadow' ORDER BY created_at, id"
)
_EXPECTED: Final = (NotFound, Conflict, InvalidRequest)


class Killed(BaseException):
    """A worker's sudden end."""


class World:
    """What may be done to the bank, and what must hold of it in the end.  Closed by `close`."""

    def __init__(self, database: Database, rows: psycopg.Connection[DictRow]) -> None:
        self.database, self.rows = database, rows
        self.tenant: TenantId = make_tenant(database)
        self.stores = [PostgresStore(lambda: database.write_url, connect_for_s=30.0) for _ in range(3)]
        self.model = ScriptedModel(self._answer)
        self.embedder, self.wakeups = HashEmbedder(), NotedWakeups()
        self.settings = Settings(
            hindsight_environment="local",
            hindsight_compaction_hours=0.000_001,
            bank_defaults=(("near_duplicates", "merge"), ("consolidation_llm_batch_size", "3")),
        )
        self.moods: list[str] = []
        self.left_out: set[str] = set()
        self.is_late = False
        self.asked: list[UUID] = []
        self.shown: list[UUID] = []
        self.in_hand: tuple[str, str] | None = None
        self.meanwhile: Callable[[], None] | None = None
        self.fuse = 0
        self._numbers = count(1)

    def close(self) -> None:
        for store in self.stores:
            store.close()
        self.rows.execute("DELETE FROM tenants WHERE tenant_id = %s", (self.tenant,))

    # what callers do ------------------------------------------------------------------------------------------------

    def retain(
        self, document: str, lines: Sequence[str], tags: Sequence[str], scopes: ObservationScopes | None
    ) -> None:
        """Accepts a text for a document, whose wake-up lies in the pool."""
        item = RetainItem("\n".join(lines), document_id=document, tags=tuple(tags), observation_scopes=scopes)
        submit(self._retain_ports(self.desk), self.principal, BANK, RetainRequest((item,)))

    def line(self, subject: int, kind: int) -> str:
        """A fact: of a subject, the same as another's, or chatter."""
        if kind == 0:
            return f"{CHATTER}, hello {next(self._numbers)}."
        if kind == 1:
            return f"{_SUBJECTS[subject % 3]} likes tea."
        return f"{_SUBJECTS[subject % 3]} was in place {next(self._numbers)}."

    def correct(self, which: int, how: str) -> None:
        """Edits a memory, takes it out of use, puts an archived one back, or deletes a valid or an archived one."""
        memory = self._memory(which, archived=how in {"revert", "delete archived"})
        if memory is None:
            return
        ports = CurationPorts(self.desk, self.embedder, self.wakeups, self.settings)
        if how.startswith("delete"):
            with suppress(*_EXPECTED):
                curation.delete_fact(ports, self.principal, BANK, memory)
            return
        correction = {
            "edit": Correction(Edit(frozenset({"text"}), text=self.line(which, 2))),
            "invalidate": Correction(state="invalidated"),
            "revert": Correction(state="valid"),
        }[how]
        with suppress(*_EXPECTED):
            curation.correct(ports, self.principal, BANK, memory, correction)

    def delete(self, document: str) -> None:
        with suppress(*_EXPECTED):
            delete_document(self._document_ports, self.principal, BANK, document)

    def retag(self, document: str, tags: Sequence[str]) -> None:
        with suppress(*_EXPECTED):
            patch_document(self._document_ports, self.principal, BANK, document, DocumentPatch(tags=tuple(tags)))

    def clear(self, what: str, which: int) -> None:
        """Clears observations: all, of one scope, or of one fact."""
        ports = CurationPorts(self.desk, self.embedder, self.wakeups, self.settings)
        with suppress(*_EXPECTED):
            if what == "all":
                curation.clear_observations(ports, self.principal, BANK)
            elif what == "scope":
                curation.clear_scope(ports, self.principal, BANK, TAGS[which % len(TAGS)])
            elif memory := self._memory(which):
                curation.clear_observations_of(ports, self.principal, BANK, memory)

    def mission(self, mission: str) -> None:
        """Gives the bank a mission, so that its scopes are to be made anew."""
        self.rows.execute(
            "UPDATE banks SET config = json_build_object('observations_mission', %s::text) WHERE tenant_id = %s",
            (mission, self.tenant),
        )

    def ask(self, what: str) -> None:
        """Asks for consolidation, or for another try of what failed."""
        ports = self._consolidation_ports(self.desk)
        with suppress(*_EXPECTED):
            if what == "recover":
                recover(ports, self.principal, BANK)
            else:
                consolidate_now(ports, self.principal, BANK, None)

    # what befalls messages and workers --------------------------------------------------------------------------------

    def deliver(
        self, which: int, worker: int, *, dies_at: int = 0, doubled: bool = False, queue: str | None = None
    ) -> None:
        """Hands a message of the pool, or of one queue, to a worker, which may die; doubled, it stays in the pool."""
        pool = [message for message in self._pool() if queue in {None, message[0]}]
        if not pool:
            return
        message = pool[which % len(pool)]
        if not doubled:
            self._drop(message)
        self.in_hand = message
        self._work(message, worker, dies_at)
        self.in_hand = None

    def take_over(self, worker: int) -> None:
        """The lease of whoever is at work has run out, and a worker gets the very message."""
        self.pass_time()
        if self.in_hand is not None:
            self._work(self.in_hand, worker, 0)

    def lose(self, which: int) -> None:
        """Takes a message out that nobody has seen."""
        pool = self._pool()
        if pool:
            self._drop(pool[which % len(pool)])

    def pass_time(self) -> None:
        """Leases of the dead run out, delays end, and what failed may be tried again."""
        for statement in (
            "UPDATE operations SET lease_until = '-infinity', due_at = least(due_at, now())",
            "UPDATE documents SET lease_until = '-infinity' WHERE lease_until > now()",
            "UPDATE scopes SET lease_until = '-infinity' WHERE lease_until > now()",
            "UPDATE consolidation_work SET due_at = now() WHERE state = 'pending' AND due_at > now()",
            "UPDATE consolidation_work SET failed_at = now() - interval '10 days' WHERE state = 'failed'",
        ):
            self.rows.execute(
                f"{statement}{' AND' if 'WHERE' in statement else ' WHERE'} tenant_id = %s", (self.tenant,)
            )

    def sweep(self) -> None:
        sweep_once(self.desk, self.wakeups, self.settings)

    def settle(self) -> None:
        """Time passes, one sweep comes, and everybody works to the end, in peace."""
        self.moods.clear()
        self.meanwhile = None
        self.pass_time()
        self.sweep()
        for _ in range(2_000):
            pool = self._pool()
            if not pool:
                return
            self._drop(pool[0])
            self._work(pool[0], 0, 0)
        raise AssertionError("they wake each other without end")

    # what must hold ---------------------------------------------------------------------------------------------------

    def broken(self) -> list[str]:
        """What does not hold, though it must after every commit."""
        return [*broken(self.rows, self._banks()), *self._misplaced(), *self._remembered()]

    def wrong(self) -> list[str]:
        """Everything that does not hold of the bank at rest."""
        banks = self._banks()
        at_rest = [*near_twins(self.rows, banks), *stranded(self.rows, banks), *self._unrepresented()]
        return [*self.broken(), *at_rest]

    def _banks(self) -> list[BankId]:
        return [BankId(row["bank_id"]) for row in self._sql("SELECT bank_id FROM banks WHERE tenant_id = %s")]

    def _unrepresented(self) -> list[str]:
        """Facts that no observation of a scope rests on, though nothing says that none should."""
        rows = self._sql(
            "SELECT f.id, f.text, f.tags, f.observation_scopes, w.outcome, EXISTS ("
            "SELECT FROM observation_evidence e "
            "JOIN memory_units o ON o.id = e.observation_id AND o.fact_type = 'observation' "
            "WHERE e.fact_id = w.fact_id AND o.scope_id = w.scope_id) AS is_shown "
            "FROM consolidation_work w JOIN memory_units f ON f.id = w.fact_id "
            "WHERE w.tenant_id = %s AND NOT w.is_rebuild"
        )
        return [f"not represented: {row}" for row in rows if not row["is_shown"] and not self._is_excused(row)]

    def _is_excused(self, row: dict[str, Any]) -> bool:
        """Whether the rules themselves left it out: skipped by name, left out when it was shown alone, or no scope."""
        if row["outcome"] == "not_durable":
            return str(row["text"]).startswith(CHATTER) or str(row["id"]) in self.left_out
        return row["outcome"] == "no_scope" and _wanted(row) == ["-"]

    def _misplaced(self) -> list[str]:
        """Facts whose work is not in the scopes that their tags and wishes resolve to."""
        rows = self._sql(
            "SELECT f.text, f.tags, f.observation_scopes, array_agg(coalesce(s.tags::text, '-')) AS scopes "
            "FROM memory_units f LEFT JOIN consolidation_work w ON w.fact_id = f.id AND NOT w.is_rebuild "
            "LEFT JOIN scopes s ON s.scope_id = w.scope_id "
            "WHERE f.tenant_id = %s AND f.fact_type IN ('world', 'experience') "
            "GROUP BY f.id, f.text, f.tags, f.observation_scopes"
        )
        return [f"misplaced: {row}" for row in rows if sorted(row["scopes"]) != sorted(_wanted(row))]

    def _remembered(self) -> list[str]:
        """Words of facts that are gone, kept in histories."""
        return [
            f"remembered: {row}"
            for row in self._sql(
                "SELECT r.text FROM observation_revisions r "
                "JOIN revision_facts f USING (tenant_id, bank_id, revision_id) "
                "WHERE r.tenant_id = %s AND (r.text IS NOT NULL OR r.evidence::text LIKE '%%quote%%') "
                "AND NOT EXISTS (SELECT FROM memory_units u WHERE u.id = f.fact_id)"
            )
        ]

    # the inside -------------------------------------------------------------------------------------------------------

    @property
    def desk(self) -> PostgresStore:
        return self.stores[2]

    @property
    def principal(self) -> Principal:
        return Principal(self.tenant, "tester")

    @property
    def _document_ports(self) -> DocumentPorts:
        return DocumentPorts(self.desk, self.wakeups, self.settings)

    def _retain_ports(self, store: PostgresStore) -> RetainPorts:
        return RetainPorts(store, self.embedder, self.model, self.wakeups, SystemClock(), self.settings)

    def _consolidation_ports(self, store: PostgresStore) -> ConsolidationPorts:
        return ConsolidationPorts(store, self.embedder, self.model, self.wakeups, SystemClock(), self.settings)

    def _pool(self) -> list[tuple[str, str]]:
        """The messages that lie there, each with its queue, once."""
        operations = [("ingest", _body(tenant, operation_id=str(of))) for tenant, of, _ in self.wakeups.operations]
        scopes = [
            ("consolidate", _body(tenant, bank_id=str(bank), scope_id=str(scope)))
            for tenant, bank, scope in self.wakeups.scopes
        ]
        return list(dict.fromkeys([*operations, *scopes]))

    def _drop(self, message: tuple[str, str]) -> None:
        self.wakeups.operations = [one for one in self.wakeups.operations if str(one[1]) not in message[1]]
        self.wakeups.scopes = [one for one in self.wakeups.scopes if str(one[2]) not in message[1]]

    def _work(self, message: tuple[str, str], worker: int, dies_at: int) -> None:
        queue, body = message
        store = self.stores[worker]
        before, self.fuse = self.fuse, dies_at
        try:
            if queue == "ingest":
                ingest(self._retain_ports(store), body, 60.0)
            else:
                consolidate(self._consolidation_ports(store), body, lambda: 900.0, quiet_pages(store, self.settings))
        except Killed:
            store.close()
        finally:
            self.fuse = before

    def _let_happen(self) -> None:
        """Does, while a worker has no transaction open, what is to happen to the facts that it asked about."""
        happens, self.meanwhile = self.meanwhile, None
        if happens is not None:
            fuse, self.fuse, self.shown = self.fuse, 0, self.asked
            happens()
            self.fuse, self.shown = fuse, []

    def strike(self, point: str) -> None:
        """Called at every fault point: kills whoever works when the fuse has burnt down."""
        if point == "consolidate.after_model":
            self._let_happen()
        if self.fuse:
            self.fuse -= 1
            if not self.fuse:
                raise Killed

    def _memory(self, which: int, *, archived: bool = False) -> UUID | None:
        if self.shown and not archived:
            return self.shown[which % len(self.shown)]
        table = "invalidated_memory_units" if archived else "memory_units"
        found = self._sql(
            f"SELECT id FROM {table} WHERE tenant_id = %s AND fact_type IN ('world', 'experience') "
            "ORDER BY created_at, id"
        )
        return UUID(str(found[which % len(found)]["id"])) if found else None

    def _sql(self, query: str) -> list[dict[str, Any]]:
        return self.rows.execute(query.encode(), (self.tenant,)).fetchall()

    def _answer(self, call: ModelCall) -> JsonObject | HindsightError:
        """What the model says: facts line by line, the same is merged, and observations as the mood is."""
        if call.task == "extract_facts":
            return one_fact_per_line(call)
        if call.task == "judge_duplicate":
            return {"action": "merge"}
        facts: Any = block(call, "facts")
        mood = self.moods.pop(0) if self.moods else "good"
        self.asked = [UUID(fact["id"]) for fact in facts]
        if not self.is_late:
            self._let_happen()
        if len(facts) == 1 and mood in LEAVING_OUT:
            self.left_out.add(facts[0]["id"])
        return revised(call, mood)


def _wanted(row: dict[str, Any]) -> list[str]:
    scopes = resolve_scopes(row["tags"], scopes_from_json(row["observation_scopes"]))
    return ["{" + ",".join(f'"{tag}"' if "," in tag else tag for tag in scope.tags) + "}" for scope in scopes] or ["-"]


def _body(tenant: UUID, **ids: str) -> str:
    return json.dumps({"tenant_id": str(tenant), **ids})
