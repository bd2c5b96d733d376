"""Screening: secrets, personal data and injected instructions, looked for before anything of a request is written.

Called by all who store a caller's text: retain, files, documents, curation; calls the detectors.
"""

from hindsight_aws.model.screening import NOTHING_FOUND, Screening
from hindsight_aws.screening.count import as_result, events, ledger_lines
from hindsight_aws.screening.detectors import BUILT_IN, Detector
from hindsight_aws.screening.look import Look
from hindsight_aws.screening.policy import policy_of
from hindsight_aws.screening.screen import redacted, refuse_labels, screen_fields, without_finds
from hindsight_aws.screening.secrets import Span

__all__ = [
    "BUILT_IN",
    "NOTHING_FOUND",
    "Detector",
    "Look",
    "Screening",
    "Span",
    "as_result",
    "events",
    "ledger_lines",
    "policy_of",
    "redacted",
    "refuse_labels",
    "screen_fields",
    "without_finds",
]
