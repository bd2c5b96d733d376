"""Carries an erasure on: part by part, each in a transaction of its own, until nothing is left; then its receipt.

Called by request.py, by the job and by the sweep.  Whoever holds the lease works; what a process that died had done is
done.  Who stops with rows left wakes the next; stored files and the signature are the sweep's.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, get_args
from uuid import UUID

from hindsight_aws.configuration.config import resolve
from hindsight_aws.erasure.ports import ErasurePorts
from hindsight_aws.erasure.receipt import digest_of, statement_of
from hindsight_aws.errors import FilesUnavailable, SignerUnavailable, WorkRaced, WorkSuperseded
from hindsight_aws.faults import reached
from hindsight_aws.model.erasure import Erasure, ErasureId
from hindsight_aws.model.ids import BankId, OperationId, ScopeId, TenantId
from hindsight_aws.operations.written import mark_written
from hindsight_aws.ports.erasure import Part, PartGone

_log = logging.getLogger(__name__)

AFTER_PART: Final = "erasure.after_part"
LEASE_S: Final = 90.0
SLICE: Final = 2_000
FILES_AT_ONCE: Final = 50
_PARTS: Final[tuple[Part, ...]] = get_args(Part)
_AT_ONCE: Final[dict[Part, int]] = {"operations": 1, "archives": 1, "documents": 1, "scopes": 1}
"""What locks more than one kind of row goes one by one, so that locks are taken in their order."""
_MANY: Final = 200
_SOON_S: Final = 30.0
_LATER_S: Final = 300.0
_MOST_RACES: Final = 5
_MARGIN_S: Final = 1
"""A wake-up that comes before its time finds nothing due, and nobody but the sweep would go on."""


def carry_on(ports: ErasurePorts, tenant_id: TenantId, erasure_id: ErasureId, seconds: float) -> None:
    """Works on an erasure that is due for about `seconds`, if nobody else does; with rows left, somebody is woken.

    Guarantees: may be called as often as one likes; killed at any point, the next call goes on.  Each call wakes one
    other at most, and one that meets another at work, or comes before its time, does nothing and wakes none.
    Raises: DatabaseUnavailable, DatabaseTooSlow.
    """
    with ports.store.transaction(tenant_id) as tx:
        fence = tx.erasures.take_lease(erasure_id, LEASE_S)
        erasure = tx.erasures.find(erasure_id)
    if fence is None or erasure is None:
        return
    work = _Work(ports, tenant_id, erasure, fence, time.monotonic() + seconds)
    try:
        wait_s = work.run()
    except WorkSuperseded:
        return
    with ports.store.transaction(tenant_id) as tx:
        tx.erasures.give_back(erasure_id, fence, wait_s)
    if work.has_rows_left:
        ports.wakeups.wake_erasure(tenant_id, erasure_id, round(wait_s) + _MARGIN_S if wait_s else 0)


class _Work:
    """One hold of the lease."""

    def __init__(self, ports: ErasurePorts, tenant_id: TenantId, erasure: Erasure, fence: int, until: float) -> None:
        self._ports = ports
        self._tenant_id = tenant_id
        self._erasure = erasure
        self._fence = fence
        self._until = until

    @property
    def has_rows_left(self) -> bool:
        """Whether rows of the database are still to go."""
        return self._erasure.state == "running"

    def run(self) -> float:
        """Does what it can; after how many seconds the erasure is to be looked at again."""
        if self._erasure.state == "running":
            wait_s = self._slices() if self._erasure.kind == "bank" else self._parts()
            if wait_s is not None:
                return wait_s
            with self._ports.store.transaction(self._tenant_id) as tx:
                tx.erasures.lock(self._erasure.erasure_id, self._fence)
                tx.erasures.rows_gone(self._erasure.erasure_id, self._ports.settings.hindsight_upload_url_seconds)
            self._read()
            if self._erasure.object_keys:
                return float(self._ports.settings.hindsight_upload_url_seconds)
        if self._erasure.state == "objects" and (wait_s := self._complete()) is not None:
            return wait_s
        return 0.0 if self._sign() else _LATER_S

    def _slices(self) -> float | None:
        races = 0
        while races < _MOST_RACES:
            try:
                with self._ports.store.transaction(self._tenant_id) as tx:
                    tx.erasures.lock(self._erasure.erasure_id, self._fence)
                    is_more = tx.erasures.erase_slice(self._erasure, SLICE)
            except WorkRaced:
                races += 1
                continue
            reached(AFTER_PART)
            if not is_more:
                return None
            if time.monotonic() >= self._until:
                return 0.0
        return _SOON_S

    def _parts(self) -> float | None:
        """Goes through the parts until none has anything left; None then."""
        before: list[tuple[Part, list[UUID]]] = []
        while True:
            found: list[tuple[Part, list[UUID]]] = []
            for part in _PARTS:
                if ids := self._next(part):
                    found.append((part, ids))
                    self._erase(part, ids)
            if time.monotonic() >= self._until:
                return 0.0
            if not found:
                break
            if found == before:
                return _SOON_S
            before = found
        with self._ports.store.transaction(self._tenant_id) as tx:
            is_waited_for = tx.erasures.is_waited_for(self._erasure)
        return _SOON_S if is_waited_for else None

    def _next(self, part: Part) -> list[UUID]:
        if time.monotonic() >= self._until:
            return []
        with self._ports.store.transaction(self._tenant_id) as tx:
            return tx.erasures.targets(self._erasure, part, _MANY)

    def _erase(self, part: Part, ids: Sequence[UUID]) -> None:
        """Tries to: what meets somebody else's locks is met again in the next round."""
        size = _AT_ONCE.get(part, _MANY)
        for start in range(0, len(ids), size):
            if time.monotonic() >= self._until:
                break
            with suppress(WorkRaced):
                self._erase_some(part, ids[start : start + size])
            reached(AFTER_PART)

    def _erase_some(self, part: Part, ids: Sequence[UUID]) -> None:
        with self._ports.store.transaction(self._tenant_id) as tx:
            tx.erasures.lock(self._erasure.erasure_id, self._fence)
            gone = tx.erasures.erase(self._erasure, part, ids)
            bank = tx.banks.by_id(self._erasure.bank_id)
            if bank is None:
                return
            if part in ("documents", "facts", "invalidated", "scopes"):
                mark_written(tx, bank.bank_id)
        config = resolve(self._ports.settings, bank.overrides)
        self._wake(bank.bank_id, gone, consolidates=config.consolidates_by_itself)

    def _wake(self, bank_id: BankId, gone: PartGone, *, consolidates: bool) -> None:
        scopes: tuple[ScopeId, ...] = gone.scopes
        operations: tuple[OperationId, ...] = gone.operations
        if scopes and consolidates:
            self._ports.wakeups.wake_scopes(self._tenant_id, bank_id, scopes)
        if operations:
            self._ports.wakeups.wake_operations(self._tenant_id, operations)

    def _complete(self) -> float | None:
        """Deletes the stored files and completes the receipt; after how many seconds to go on, if not all could go."""
        wait_s = self._delete_files()
        if wait_s is not None:
            return wait_s
        with self._ports.store.transaction(self._tenant_id) as tx:
            tx.erasures.lock(self._erasure.erasure_id, self._fence)
            complete = tx.erasures.find(self._erasure.erasure_id)
            if complete is not None:
                tx.erasures.settle(complete.erasure_id, digest_of(statement_of(self._tenant_id, complete)))
        self._read()
        return None

    def _delete_files(self) -> float | None:
        """Some at a time, each time written down, so that many go in several turns."""
        left = list(dict.fromkeys(self._erasure.object_keys))
        if left and self._ports.files is None:
            return _LATER_S
        while left and self._ports.files is not None:
            if time.monotonic() >= self._until:
                return 0.0
            some, left = left[:FILES_AT_ONCE], left[FILES_AT_ONCE:]
            try:
                for key in some:
                    self._ports.files.delete(key)
            except FilesUnavailable as fault:
                _log.warning("files of erasure %s are not deleted yet: %s", self._erasure.erasure_id, fault)
                return _LATER_S
            with self._ports.store.transaction(self._tenant_id) as tx:
                tx.erasures.lock(self._erasure.erasure_id, self._fence)
                tx.erasures.objects_gone(self._erasure.erasure_id, some)
        return None

    def _sign(self) -> bool:
        """Has the receipt signed; False where the key is away.  Who may not sign leaves that to the next sweep."""
        if self._ports.signer is None or self._erasure.digest is None:
            return True
        try:
            signature = self._ports.signer.sign(bytes.fromhex(self._erasure.digest))
        except SignerUnavailable as fault:
            _log.warning("receipt %s is not signed yet: %s", self._erasure.erasure_id, fault)
            return False
        with self._ports.store.transaction(self._tenant_id) as tx:
            tx.erasures.sign(self._erasure.erasure_id, self._erasure.digest, signature)
        return True

    def _read(self) -> None:
        with self._ports.store.transaction(self._tenant_id) as tx:
            found = tx.erasures.find(self._erasure.erasure_id)
        if found is not None:
            self._erasure = found
