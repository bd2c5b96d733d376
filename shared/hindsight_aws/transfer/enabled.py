"""Which transfers a deployment offers, by its settings and whether it has a bucket.  Called by submit.py."""

from __future__ import annotations

from hindsight_aws.errors import NotFound
from hindsight_aws.settings import Settings


def require_export(settings: Settings) -> None:
    """Lets a caller pass where banks are exported.  Raises NotFound."""
    if not settings.hindsight_api_enable_document_export_api:
        raise NotFound("Export is disabled: HINDSIGHT_API_ENABLE_DOCUMENT_EXPORT_API is off")
    _require_bucket(settings)


def require_import(settings: Settings) -> None:
    """Lets a caller pass where archives are imported.  Raises NotFound."""
    if not settings.hindsight_api_enable_document_import_api:
        raise NotFound("Import is disabled: HINDSIGHT_API_ENABLE_DOCUMENT_IMPORT_API is off")
    _require_bucket(settings)


def _require_bucket(settings: Settings) -> None:
    if not settings.hindsight_bucket:
        raise NotFound("Transfers are disabled: this deployment has no bucket (HINDSIGHT_BUCKET)")
