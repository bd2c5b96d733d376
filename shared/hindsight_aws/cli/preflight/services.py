"""Whether queues, bucket, key and the account's quotas are as a deployment needs them.  Asks SQS and the account."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from hindsight_aws.aws.account import AwsAccount, NotKnown
from hindsight_aws.aws.dead_letters import QueueRefused, SqsDeadLetters
from hindsight_aws.cli.preflight.finding import Finding, not_known, ok, warning, wrong
from hindsight_aws.cli.queues import queue_urls
from hindsight_aws.settings import Settings

_CONCURRENCY: Final = ("lambda", "L-B99A9384")
_INTERFACES: Final = ("vpc", "L-DF5E4CA3")
_NEW_ACCOUNT: Final = 10
ENOUGH: Final = 500
"""All functions of the table at once, rounded up; a test compares."""
_LEAST_INTERFACES: Final = 250
_SKEW: Final = timedelta(minutes=4)
"""AWS refuses signatures that are five minutes off."""
_BACKLOG: Final = 1000


def check_account(account: AwsAccount) -> Iterator[Finding]:
    """Whose account it is, this machine's clock, and quotas that new accounts have too little of."""
    try:
        number, then = account.who_and_when()
    except NotKnown as why:
        yield not_known(f"Which account this is: {why}.")
    else:
        yield ok(f"The account is {number}.")
        apart = timedelta(0) if then is None else abs(datetime.now(UTC) - then)
        if apart > _SKEW:
            yield wrong(f"The clock here is {apart.total_seconds():.0f} s off: set it, or AWS refuses every call.")
    yield _concurrency(account)
    yield _interfaces(account)


def check_queues(settings: Settings) -> Iterator[Finding]:
    """What lies in each queue whose URL is set, and in its dead-letter queue."""
    urls = queue_urls(settings)
    if not urls:
        yield not_known("HINDSIGHT_QUEUE_<NAME>_URL is not set for any queue, so queues were not looked at.")
        return
    queues = SqsDeadLetters(settings.aws_region)
    for name, url in urls.items():
        try:
            found = queues.look(url)
        except QueueRefused as refused:
            yield _refused(name, refused)
            continue
        if found.dead:
            yield warning(f"Queue {name} has {found.dead} dead messages: see docs/runbooks/dead-letters.md.")
        elif found.waiting > _BACKLOG:
            yield warning(f"Queue {name} has {found.waiting} messages waiting: see docs/runbooks/backlog.md.")
        else:
            yield ok(f"Queue {name}: {found.waiting} waiting, none dead.")


def check_bucket(settings: Settings, account: AwsAccount) -> Iterator[Finding]:
    """The bucket of uploaded files, where one is set."""
    name = settings.hindsight_bucket
    if not name:
        return
    try:
        bucket = account.bucket(name)
    except NotKnown as why:
        yield not_known(f"How bucket {name} stands: {why}.")
        return
    if bucket is None:
        yield wrong(f"There is no bucket {name}: deploy the data stack, or set HINDSIGHT_BUCKET to the one it made.")
    elif not bucket.is_closed:
        yield wrong(f"Bucket {name} may be made public: switch on all four of its public access blocks.")
    else:
        yield ok(f"Bucket {name} is there and closed to the public.")


def check_key(settings: Settings, account: AwsAccount) -> Iterator[Finding]:
    """The key that signs receipts of erasures, where one is set."""
    named = settings.hindsight_receipt_key
    if not named:
        return
    try:
        key = account.key(named)
    except NotKnown as why:
        yield not_known(f"How the key of the receipts stands: {why}.")
        return
    if key is None:
        yield wrong(f"There is no key {named} in KMS: set HINDSIGHT_RECEIPT_KEY to the one that the data stack made.")
    elif key.state != "Enabled":
        yield wrong(
            f"The key of the receipts is {key.state}: enable it, or cancel its deletion, while that is possible."
        )
    elif (key.usage, key.spec) != ("SIGN_VERIFY", "ECC_NIST_P256"):
        yield wrong(f"The key of the receipts is {key.usage} {key.spec}: SIGN_VERIFY ECC_NIST_P256 is needed.")
    else:
        yield ok("The key of the receipts is enabled and of the right kind.")


def _refused(name: str, refused: QueueRefused) -> Finding:
    if "NonExistentQueue" in str(refused) or "has no dead-letter queue" in str(refused):
        return wrong(f"Queue {name}: {refused}. Set HINDSIGHT_QUEUE_{name.upper()}_URL to the deployed one's.")
    if "AccessDenied" in str(refused):
        return not_known(f"Queue {name}: sqs:GetQueueAttributes was refused.")
    return wrong(f"Queue {name} cannot be asked: {refused}. What it would wake waits for the sweep.")


def _concurrency(account: AwsAccount) -> Finding:
    try:
        value = account.quota(*_CONCURRENCY)
    except NotKnown as why:
        return not_known(f"How many functions may run at once: {why}.")
    if value is None:
        return not_known("How many functions may run at once: Service Quotas does not say.")
    if value <= _NEW_ACCOUNT:
        return wrong(f"{value:.0f} functions may run at once, as in a new account: ask Service Quotas for 1,000.")
    if value < ENOUGH:
        return warning(
            f"{value:.0f} functions may run at once, fewer than this deployment's {ENOUGH}: ask Service Quotas for "
            "1,000, and deploy with `reserveConcurrency=false` until then."
        )
    return ok(f"{value:.0f} functions may run at once.")


def _interfaces(account: AwsAccount) -> Finding:
    try:
        value = account.quota(*_INTERFACES)
    except NotKnown as why:
        return not_known(f"How many network interfaces the region allows: {why}.")
    if value is None:
        return not_known("How many network interfaces the region allows: Service Quotas does not say.")
    if value < _LEAST_INTERFACES:
        return warning(f"The region allows {value:.0f} network interfaces, of which functions and endpoints take some.")
    return ok(f"The region allows {value:.0f} network interfaces.")
