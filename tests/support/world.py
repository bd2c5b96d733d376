"""What one test sees of a running stack: its banks over HTTP, their rows, the queues, and what the model was asked.

Made by the fixture `world`; used by the tests of tests/cases and tests/faults.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import httpx
import psycopg
from psycopg import sql
from psycopg.rows import DictRow, dict_row

from hindsight_aws.model.ids import BankId, TenantId
from tests.support.bedrock import Bedrock

if TYPE_CHECKING:
    from infra.local.stack import LocalStack

QUEUES: Final = ("convert", "transfer", "ingest", "consolidate", "deliver", "send")
_PATIENCE_S: Final = 150.0
_ROOT: Final = "/v1/default/banks"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the API said to one step, and where."""

    do: str
    bank: str | None
    status: int
    text: str

    @property
    def body(self) -> Any:
        """The JSON body, or None when there is none."""
        return json.loads(self.text) if self.text[:1] in {"{", "["} else None


@dataclass
class World:
    """The stack as one test sees it: its own banks, its own tenants, its own log lines."""

    stack: LocalStack
    model: Bedrock
    client: httpx.Client
    rows: psycopg.Connection[DictRow]
    prefix: str
    keys: dict[str, str] = field(default_factory=dict)
    log_starts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.log_starts = {str(path): path.stat().st_size for path in self._logs}

    # banks over HTTP ------------------------------------------------------------------------------------------------

    def name(self, bank: str) -> str:
        """The bank's name in the shared database."""
        return f"{self.prefix}-{bank}"

    def send(
        self, do: str, bank: str, method: str, path: str, body: object = None, params: Mapping[str, str] | None = None
    ) -> Answer:
        """One request about a bank, with the bank's own key if it has one; text is sent as ASCII, whatever it holds."""
        headers = {"content-type": "application/json"}
        if bank in self.keys:
            headers["authorization"] = f"Bearer {self.keys[bank]}"
        content = None if body is None else json.dumps(body).encode()
        url = f"{_ROOT}/{self.name(bank)}{path}"
        got = self.client.request(method, url, content=content, headers=headers, params=params)
        return Answer(do, bank, got.status_code, got.text)

    def get(self, bank: str, path: str, **params: str) -> Any:
        """The body of a GET that must succeed."""
        answer = self.send("look", bank, "GET", path, params=params)
        assert answer.status == 200, f"GET {path}: {answer.status} {answer.text}"
        return answer.body

    def memories(self, bank: str, fact_type: str | None = None) -> list[dict[str, Any]]:
        """The bank's memories as listed, oldest first; facts alone when no type is named."""
        named = {"type": fact_type} if fact_type else {}
        items: list[dict[str, Any]] = self.get(bank, "/memories/list", limit="1000", **named)["items"]
        places = {identity: place for place, identity in enumerate(self.stored_ids(bank))}
        kept = [item for item in items if fact_type or item["fact_type"] != "observation"]
        return sorted(kept, key=lambda item: places.get(UUID(item["id"]), len(places)))

    # rows -----------------------------------------------------------------------------------------------------------

    def sql(self, statement: str, *params: object) -> list[dict[str, Any]]:
        """Rows past every policy."""
        return self.rows.execute(statement.encode(), params).fetchall()

    def sql_done(self, statement: str, *params: object) -> int:
        """Runs a statement that answers no rows, past every policy; how many rows it touched."""
        return self.rows.execute(statement.encode(), params).rowcount

    def bank_ids(self, banks: Sequence[str]) -> list[BankId]:
        """The ids of those of the banks that exist."""
        names = [self.name(bank) for bank in banks]
        found = self.sql("SELECT bank_id FROM banks WHERE external_id = ANY(%s) ORDER BY created_at", names)
        return [BankId(row["bank_id"]) for row in found]

    def stored_ids(self, bank: str, *, observations: bool | None = None) -> list[UUID]:
        """The ids of its memories in storage order."""
        found = self.sql(
            "SELECT u.id FROM memory_units u JOIN banks b USING (tenant_id, bank_id) WHERE b.external_id = %s "
            "AND (%s::boolean IS NULL OR (u.fact_type = 'observation') = %s) "
            "ORDER BY u.created_at, u.document_id, u.chunk_index, u.ordinal, u.id",
            self.name(bank), observations, observations,
        )  # fmt: skip
        return [row["id"] for row in found]

    def everything_stored(self, banks: Sequence[str]) -> str:
        """All rows of all tables that belong to these banks, as text."""
        tables = self.sql(
            "SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
            "WHERE c.relnamespace = 'hindsight'::regnamespace AND c.relkind = 'r' AND a.attname = 'bank_id'"
        )
        ids = self.bank_ids(banks)
        found: list[str] = []
        for table in tables:
            rows = f"SELECT row_to_json(t)::text AS row FROM {table['relname']} t WHERE bank_id = ANY(%s)"
            found += [row["row"] for row in self.sql(rows, ids)]
        return "\n".join(found)

    def reconnect(self) -> None:
        """Opens the connection for rows anew, after the server's death."""
        self.rows.close()
        self.rows = psycopg.connect(self.stack.superuser_url, autocommit=True, row_factory=dict_row)
        self.rows.execute("SET search_path = hindsight, public")

    @cached_property
    def tenant(self) -> TenantId:
        """The tenant that calls without a key belong to."""
        return TenantId(self.stack.options.dev_tenant)

    # what was said to the model, and on the log -----------------------------------------------------------------------

    def calls(self, task: str | None = None) -> list[dict[str, Any]]:
        """The Converse calls of a task, or of all, oldest first: `request` and `reply`."""
        return list(self.model.records(task))

    def embedded(self) -> list[str]:
        """The texts embedded last."""
        return self.model.embedded()

    def logged(self) -> str:
        """What all processes have logged since the case began."""
        return "\n".join(
            path.read_bytes()[self.log_starts.get(str(path), 0) :].decode(errors="replace") for path in self._logs
        )

    @property
    def _logs(self) -> list[Any]:
        return sorted((self.stack.options.state / "logs").glob("*.log"))

    # waiting --------------------------------------------------------------------------------------------------------

    def settle(self, *queues: str) -> None:
        """Waits until no message of these queues is due or in hand; delayed ones may lie. Raises: TimeoutError."""
        deadline = time.monotonic() + _PATIENCE_S
        while any((counts := self.stack.queues.counts(name)).visible or counts.in_flight for name in queues):
            if time.monotonic() > deadline:
                raise TimeoutError(f"the queues did not come to rest: {counts}")
            time.sleep(0.02)

    @contextmanager
    def refusing(self, operation_ids: Sequence[UUID]) -> Iterator[None]:
        """Whoever touches the row of one of these operations meanwhile gets an error that no worker expects."""
        self.rows.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$"
        )
        chosen = sql.SQL("OLD.operation_id = ANY({})").format(sql.Literal(list(operation_ids)))
        self.rows.execute(
            sql.SQL(
                "CREATE TRIGGER refuse BEFORE UPDATE ON operations FOR EACH ROW WHEN ({}) EXECUTE FUNCTION refuse()"
            ).format(chosen)
        )
        try:
            yield
        finally:
            self.rows.execute("DROP FUNCTION refuse CASCADE")

    def let_time_pass(self) -> None:
        """As if every lease of a dead worker and every delay had run out; then one sweep, and the queues at rest."""
        self.rows.execute("UPDATE operations SET lease_until = '-infinity', due_at = least(due_at, now())")
        self.rows.execute("UPDATE documents SET lease_until = '-infinity' WHERE lease_until > now()")
        self.rows.execute("UPDATE scopes SET lease_until = '-infinity' WHERE lease_until > now()")
        self.rows.execute("UPDATE consolidation_work SET due_at = now() WHERE state = 'pending' AND due_at > now()")
        self.stack.run_schedule("sweep")
        self.settle(*QUEUES)


def prompt_of(call: Mapping[str, Any]) -> str:
    """All text of a Converse request; data blocks are read, so that a text is found as it was written."""
    texts = instructions_of(call) + "\n" + "\n".join(said_in(call))
    plain = [text for document in documents_of(call) for text in _texts(document)]
    return "\n".join([texts, *plain])


def instructions_of(call: Mapping[str, Any]) -> str:
    """The system text of a Converse request."""
    return "\n".join(part["text"] for part in call["request"].get("system", []) if "text" in part)


def said_in(call: Mapping[str, Any]) -> list[str]:
    """The texts of all messages of a Converse request."""
    parts = [part for message in call["request"].get("messages", []) for part in message["content"]]
    return [part["text"] for part in parts if "text" in part] + [
        json.dumps(part, ensure_ascii=False) for part in parts if "text" not in part
    ]


_BLOCK: Final = re.compile(r'<data kind="([a-z_]+)">\n(.*?)\n</data>', re.DOTALL)


def documents_of(call: Mapping[str, Any]) -> list[Any]:
    """What its data blocks and tool results hold."""
    found = [json.loads(body) for text in said_in(call) for _, body in _BLOCK.findall(text)]
    parts = [part for message in call["request"].get("messages", []) for part in message["content"]]
    return found + [part["toolResult"] for part in parts if "toolResult" in part]


def outside_blocks(call: Mapping[str, Any]) -> str:
    """What a Converse request says as an instruction: the system text, and user text outside data blocks."""
    messages = [message for message in call["request"].get("messages", []) if message["role"] == "user"]
    texts = [part["text"] for message in messages for part in message["content"] if "text" in part]
    return "\n".join([instructions_of(call), *(_BLOCK.sub("", text) for text in texts)])


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for inner in value.values() for text in _texts(inner)]
    if isinstance(value, Sequence):
        return [text for inner in value for text in _texts(inner)]
    return []
