"""Whether the settings of a process say something that holds together.  Reads settings and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from hindsight_aws.cli.preflight.finding import Finding, not_known, ok, warning, wrong
from hindsight_aws.configuration.config import resolve
from hindsight_aws.consolidate.review import review
from hindsight_aws.errors import HindsightError
from hindsight_aws.settings import Settings

_TEMPLATE = "HINDSIGHT_API_DEFAULT_BANK_TEMPLATE"


def check_settings(settings: Settings) -> Iterator[Finding]:
    """What can be said of settings that could be read.

    Raises: WrongSetting for a default of the banks that is none.
    """
    defaults = resolve(settings, {})
    yield ok(f"Settings can be read; this is a {settings.hindsight_environment} process.")
    for caution in review(defaults):
        where = f"HINDSIGHT_API_{caution['field'].upper()}"
        yield warning(f"{where} does not do what it seems to say: {caution['message']}.")
    yield from _template(settings)
    yield from _tokens(settings)
    if not settings.hindsight_receipt_key and settings.hindsight_environment == "cloud":
        yield not_known(
            "HINDSIGHT_RECEIPT_KEY is not set here; if it is not for `sweep`, receipts of erasures stay unsigned."
        )


def _template(settings: Settings) -> Iterator[Finding]:
    if settings.hindsight_api_default_bank_template is None:
        return
    from hindsight_aws.api.schemas.templates import template_of

    try:
        template = template_of(settings.hindsight_api_default_bank_template)
        resolve(settings, template.settings)
    except HindsightError as broken:
        yield wrong(f"{_TEMPLATE} cannot be read, so banks are made without it: {broken}.")
    else:
        yield ok(f"{_TEMPLATE} is a template; what it makes of a bank shows `POST …/import?dry_run=true`.")


def _tokens(settings: Settings) -> Iterator[Finding]:
    issuer = settings.hindsight_api_jwt_issuer
    if issuer is None:
        return
    if not issuer.startswith("https://") and settings.hindsight_environment == "cloud":
        yield wrong(f"HINDSIGHT_API_JWT_ISSUER is {issuer!r}: an issuer is an https address, as tokens spell it.")
    else:
        yield ok(f"Tokens of {issuer} are believed, where the gateway verified them.")
    if not settings.hindsight_api_jwt_required_claims:
        yield warning(
            "HINDSIGHT_API_JWT_REQUIRED_CLAIMS names no claim: a token that says nothing of tags, types "
            "or scopes is not limited by them."
        )
