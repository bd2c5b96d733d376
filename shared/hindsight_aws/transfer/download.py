"""Hands out the archives of exports: their bytes, or an address from which anybody can download them for a while.

Called by the API; calls the ports.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hindsight_aws.access import is_limited, require, sees_bank
from hindsight_aws.errors import NotFound
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.transfer.ports import TransferPorts

MOST_ANSWERED: Final = 4 * 1024 * 1024
"""Bytes that an answer through the gateway may hold, once they are encoded as text."""


@dataclass(frozen=True, slots=True)
class Download:
    """An archive: its bytes where an answer can hold them, else where they are."""

    filename: str
    body: bytes | None
    address: str


def download(ports: TransferPorts, principal: Principal, key: str) -> Download:
    """The archive under the key.

    Raises: NotFound for any key that is not that of an archive which the caller may have: another tenant's, another
    bank's, one that has expired; AccessDenied also where the archive holds settings and the caller does not administer;
    FilesUnavailable, DatabaseUnavailable.
    """
    require(principal, Permission.READ)
    if is_limited(principal) or not key.startswith(f"tenants/{principal.tenant_id}/banks/"):
        raise _not_found()
    with ports.store.transaction(principal.tenant_id) as tx:
        found = tx.transfers.offered(key)
    if found is None or not sees_bank(principal, found.bank):
        raise _not_found()
    if found.holds_settings:
        require(principal, Permission.ADMIN)
    size = ports.files.size(key)
    if size is None:
        raise _not_found()
    address = ports.files.address(key, found.filename, ports.settings.hindsight_download_url_seconds)
    body = ports.files.get(key, MOST_ANSWERED) if size <= MOST_ANSWERED else None
    return Download(found.filename, body, address)


def _not_found() -> NotFound:
    return NotFound("File not found")
