"""Screening: secrets, personal data and injected instructions, looked for before anything of a request is written.

Called by intake/admit and by curation; calls the detectors, and a guard of the deployment's where there is one.
"""

from hindsight_aws.model.screening import NOTHING_FOUND, Screening
from hindsight_aws.retain.screening.count import as_result, ledger_lines
from hindsight_aws.retain.screening.detectors import BUILT_IN, Detector
from hindsight_aws.retain.screening.guard import guarded
from hindsight_aws.retain.screening.policy import policy_of
from hindsight_aws.retain.screening.screen import redacted, refuse_labels, screen, screen_fields, without_finds

__all__ = [
    "BUILT_IN",
    "NOTHING_FOUND",
    "Detector",
    "Screening",
    "as_result",
    "guarded",
    "ledger_lines",
    "policy_of",
    "redacted",
    "refuse_labels",
    "screen",
    "screen_fields",
    "without_finds",
]
