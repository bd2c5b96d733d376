"""Banks for tests of erasure: whether a word is left anywhere, and ports whose files and key do as they are told."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID, uuid4

from hindsight_aws.erasure import ErasurePorts
from hindsight_aws.errors import SignerUnavailable
from hindsight_aws.model.erasure import ErasureId, NewErasure, Signature
from hindsight_aws.model.ids import BankId
from hindsight_aws.ports.store import Transaction
from hindsight_aws.settings import Settings
from hindsight_aws.store.postgres import PostgresStore
from tests.support.admin import admin
from tests.support.database import Database
from tests.support.files import MemoryFiles
from tests.support.models import NotedWakeups


@dataclass
class NotingSigner:
    """Signs everything alike and remembers what; while `is_down` nothing."""

    is_down: bool = False
    signed: list[bytes] = field(default_factory=list)

    def sign(self, digest: bytes) -> Signature:
        if self.is_down:
            raise SignerUnavailable("the key is away")
        self.signed.append(digest)
        return Signature("key-of-tests", "ECDSA_SHA_256", "c2lnbmVk")


def erasure_ports(
    store: PostgresStore, files: MemoryFiles | None = None, signer: NotingSigner | None = None, **settings: object
) -> ErasurePorts:
    """Ports on a store of a test."""
    return ErasurePorts(store, NotedWakeups(), Settings(**settings), files, signer)  # type: ignore[arg-type]  # any setting


def take_away(tx: Transaction, bank_id: BankId) -> int:
    """Erases a bank at once, in the transaction; how much it held."""
    gone = tx.erasures.begin_bank(NewErasure(ErasureId(uuid4()), bank_id, "b", "bank", "tester"), 20_000)
    assert gone is not None
    return gone.contents


def tables_with(database: Database, tenant: UUID, word: str) -> set[str]:
    """The tables in which a row of the tenant holds the word, whatever the column."""
    with admin(database.admin_url) as connection:
        tables = connection.execute(
            "SELECT c.relname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid "
            "WHERE c.relnamespace = 'hindsight'::regnamespace AND c.relkind = 'r' AND a.attname = 'tenant_id'"
        ).fetchall()
        each = " UNION ALL ".join(
            f"(SELECT '{table}' FROM hindsight.{table} AS t WHERE t.tenant_id = %(tenant)s "
            "AND strpos(lower(t::text), lower(%(word)s)) > 0 LIMIT 1)"
            for (table,) in tables
        )
        found = connection.execute(each.encode(), {"tenant": tenant, "word": word}).fetchall()
    return {str(table) for (table,) in found}
