"""Announces an upload: a caller is told where to bring a file that no request could carry.

Called by the API; calls the ports.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID, uuid4

from hindsight_aws.access import bank_not_found, require, require_bank
from hindsight_aws.errors import InvalidField, TooLarge
from hindsight_aws.files.ports import FilesPorts, require_files
from hindsight_aws.files.requests import MEGABYTE, NewUpload, key_of, plain_name, plain_type
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.ports.files import UploadTicket
from hindsight_aws.ports.uploads import Upload
from hindsight_aws.screening import policy_of, redacted, refuse_labels

_ARCHIVE: Final = "application/zip"
"""What an archive of a bank is brought as, which may be larger than a file that is converted."""
_KEPT: Final = timedelta(days=8)
"""Longer than the bucket keeps bytes, by which time nobody can name the upload to any use."""


@dataclass(frozen=True, slots=True)
class AnnouncedUpload:
    """The id by which `retain_files` knows the file, and the ticket to bring it."""

    upload_id: UUID
    ticket: UploadTicket


def announce_upload(ports: FilesPorts, principal: Principal, bank: str, wanted: NewUpload) -> AnnouncedUpload:
    """Makes a place for the file in an existing bank, and an address to which exactly this much may be brought.

    Raises: InvalidField, TooLarge, ContentRefused by the bank's screening of name and type, AccessDenied, NotFound,
    DatabaseUnavailable.
    """
    settings = ports.retain.settings
    require(principal, Permission.WRITE)
    require_bank(principal, bank)
    require_files(settings)
    content_type = plain_type(wanted.content_type)
    if content_type is None:
        raise InvalidField("content_type", "must be a content type such as application/pdf")
    if wanted.size < 1:
        raise InvalidField("size", "must be at least 1 byte")
    most = settings.hindsight_api_file_conversion_max_batch_size_mb
    if content_type == _ARCHIVE:
        most = max(most, settings.hindsight_transfer_max_mb)
    if wanted.size > most * MEGABYTE:
        raise TooLarge(f"size: a file may have at most {most} MB")
    upload_id = uuid4()
    with ports.retain.store.transaction(principal.tenant_id) as tx:
        found = tx.banks.find(bank)
        if found is None:
            raise bank_not_found(bank)
        key = key_of(principal.tenant_id, found.bank_id, upload_id)
        tx.uploads.forget(found.bank_id, ports.retain.clock.now() - _KEPT)
        policy = policy_of(settings, found, None)
        refuse_labels(policy, {"content_type": [content_type]})
        name = redacted(policy, plain_name(wanted.filename), "filename")
        tx.uploads.add(found.bank_id, Upload(upload_id, principal.subject, key, name, content_type, wanted.size))
    ticket = ports.files.ticket(key, wanted.size, content_type, settings.hindsight_upload_url_seconds)
    return AnnouncedUpload(upload_id, ticket)
