"""What a new version of a document shares with the stored one: which chunks stay, which are cut anew.

Called by retain's plan; pure.
"""

from __future__ import annotations

from hindsight_aws.retain.delta.cut import Piece, cut_afresh, cut_again
from hindsight_aws.retain.delta.fingerprint import fingerprint
from hindsight_aws.retain.delta.former import FormerChunk, FormerChunks

__all__ = ["FormerChunk", "FormerChunks", "Piece", "cut_afresh", "cut_again", "fingerprint"]
