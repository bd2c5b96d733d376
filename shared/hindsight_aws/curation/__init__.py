"""Curation: what people do to memories by hand: edit, invalidate, revert, delete, clear.

Called by the API; calls screening, entities, the embedder and the store.
"""

from hindsight_aws.curation.clear import clear_memories, clear_observations, clear_observations_of, clear_scope
from hindsight_aws.curation.correct import correct
from hindsight_aws.curation.delete import delete_fact
from hindsight_aws.curation.ports import CurationPorts
from hindsight_aws.curation.requests import Correction, Edit

__all__ = [
    "Correction",
    "CurationPorts",
    "Edit",
    "clear_memories",
    "clear_observations",
    "clear_observations_of",
    "clear_scope",
    "correct",
    "delete_fact",
]
