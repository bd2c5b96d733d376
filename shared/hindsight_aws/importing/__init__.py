"""Importing: exports of other memory services read into items of a retain, and sent over the public API.

Called by cli/.  It knows nothing of the database: whoever imports needs a key that may write, and no more.
"""

from hindsight_aws.importing.mem0 import read_mem0
from hindsight_aws.importing.records import NotUnderstood, Reading, Record, documents_in
from hindsight_aws.importing.send import Batch, Post, Posted, Sending, batches_of, send
from hindsight_aws.importing.zep import read_zep

__all__ = [
    "Batch",
    "NotUnderstood",
    "Post",
    "Posted",
    "Reading",
    "Record",
    "Sending",
    "batches_of",
    "documents_in",
    "read_mem0",
    "read_zep",
    "send",
]
