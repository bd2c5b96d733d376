"""The detectors by name.  Called by screening/look; a deployment's own come in through ports/screening."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from hindsight_aws.model.screening import INSTRUCTIONS, IP_ADDRESS
from hindsight_aws.screening import personal, secrets
from hindsight_aws.screening.instructions import injected_instructions
from hindsight_aws.screening.secrets import Span

Detector: TypeAlias = Callable[[str], Iterable[Span]]
"""Gives the half-open spans of a text that it finds, in any order; pure, and linear in the length of the text."""

BUILT_IN: Final[Mapping[str, Detector]] = {
    "private_key": secrets.private_keys,
    "aws_access_key": secrets.aws_access_keys,
    "aws_secret_key": secrets.aws_secret_keys,
    "service_token": secrets.service_tokens,
    "jwt": secrets.json_web_tokens,
    "bearer_token": secrets.bearer_tokens,
    "url_password": secrets.url_passwords,
    "assigned_secret": secrets.assigned_secrets,
    "email": personal.emails,
    "phone": personal.phones,
    "credit_card": personal.credit_cards,
    "iban": personal.ibans,
    "us_ssn": personal.social_security_numbers,
    IP_ADDRESS: personal.ip_addresses,
    INSTRUCTIONS: injected_instructions,
}
