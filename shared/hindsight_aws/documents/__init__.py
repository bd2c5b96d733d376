"""Documents after they were retained: deleted, labelled otherwise, made again from their own text.

Called by the API; calls retain and the store ports.
"""

from __future__ import annotations

from hindsight_aws.documents.delete import Deleted, delete_document
from hindsight_aws.documents.patch import DocumentPatch, patch_document
from hindsight_aws.documents.ports import DocumentPorts
from hindsight_aws.documents.reprocess import Reprocessing, reprocess_document

__all__ = [
    "Deleted",
    "DocumentPatch",
    "DocumentPorts",
    "Reprocessing",
    "delete_document",
    "patch_document",
    "reprocess_document",
]
