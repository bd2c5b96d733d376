"""What `doctor` looks at, one file for each kind of thing, all of it in order in `everything`.  Called by health.py."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hindsight_aws.aws.account import AwsAccount, NotKnown
from hindsight_aws.cli.preflight.configuration import check_settings
from hindsight_aws.cli.preflight.database import check_database
from hindsight_aws.cli.preflight.finding import Finding, State, ok, wrong
from hindsight_aws.cli.preflight.models import call_models, check_models
from hindsight_aws.cli.preflight.services import check_account, check_bucket, check_key, check_queues
from hindsight_aws.settings import Settings, WrongSetting, load_settings

__all__ = ["Finding", "State", "everything", "variables_of"]


def everything(admin_url: str, *, is_calling: bool) -> Iterator[Finding]:
    """Every finding, in order; a wrong setting is the only one.

    `is_calling`: each model is called, once.  On a laptop nothing is asked of an account.
    """
    try:
        settings = load_settings()
        yield from check_settings(settings)
    except WrongSetting as broken:
        yield wrong(f"A setting is wrong: {broken}.")
        return
    yield from check_database(settings, admin_url)
    yield from check_queues(settings)
    if settings.hindsight_environment == "local" and not is_calling:
        yield ok("A laptop: quotas, models, bucket and key of an account were not looked at.")
    else:
        yield from _of_the_account(settings, is_calling=is_calling)


def _of_the_account(settings: Settings, *, is_calling: bool) -> Iterator[Finding]:
    account = AwsAccount(settings.aws_region)
    if settings.hindsight_environment == "cloud":
        yield from check_account(account)
        yield from check_bucket(settings, account)
        yield from check_key(settings, account)
        yield from check_models(settings, account)
    if is_calling:
        from hindsight_aws.aws.bedrock import BedrockClients

        yield from call_models(settings, BedrockClients(settings.aws_region, profiles=settings.inference_profiles))


def variables_of(function: str) -> Mapping[str, str]:
    """The settings that a deployed function has, and the region they are for.  Raises NotKnown."""
    region = load_settings().aws_region
    found = AwsAccount(region).variables(function)
    if found is None:
        raise NotKnown(f"there is no function {function} in {region}")
    # The database is inside a network that this machine is not in.
    kept = {name: value for name, value in found.items() if name.startswith("HINDSIGHT_")}
    return {name: value for name, value in kept.items() if not name.startswith("HINDSIGHT_DATABASE_")}
