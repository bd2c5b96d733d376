"""The environment variables of processes the stack starts: what Lambda would set, and the loopback addresses. Pure."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from infra.local.jwt_issuer import ISSUER
from infra.local.kms import KEY_ID
from infra.local.options import StackOptions
from infra.local.text_models import model_settings
from infra.local.workflow import machine_arn
from infra.topology import (
    MARKS_READ_SETTING,
    MARKS_SET_SETTING,
    RECEIPT_KEY_SETTING,
    Function,
    workflow_setting,
)

_OWN_PREFIX: Final = "HINDSIGHT_"
_AWS_PREFIX: Final = "AWS_"
_ENDPOINT: Final = "AWS_ENDPOINT_URL"
_BEDROCK_ENDPOINTS: Final = ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME")
_REGION: Final = "us-east-1"


@dataclass(slots=True)
class Addresses:
    """Where the parts of a running stack are reached."""

    sqs: str = ""
    s3: str = ""
    kms: str = ""
    bedrock: str | None = None
    workflows: str = ""
    faults: str | None = None
    database_urls: dict[str, str] = field(default_factory=dict)
    queue_urls: dict[str, str] = field(default_factory=dict)


def inherited(surroundings: Mapping[str, str] | None = None) -> dict[str, str]:
    """What every child takes from our own environment: the path, and the product's settings of who runs the stack."""
    ours = os.environ if surroundings is None else surroundings
    kept = {name: value for name, value in ours.items() if name.startswith(_OWN_PREFIX) and name != "HINDSIGHT_FAULTS"}
    return kept | {"PATH": ours.get("PATH", ""), "LANG": "C.UTF-8", "TZ": ":UTC", "PYTHONHASHSEED": "random"}


def function_variables(function: Function, options: StackOptions, addresses: Addresses) -> dict[str, str]:
    """The environment of one function's processes, the options' own entries last."""
    variables = inherited() | _own_code(function, options)
    variables |= {
        "_HANDLER": function.handler,
        "AWS_EXECUTION_ENV": "AWS_Lambda_python3.13",
        "AWS_LAMBDA_FUNCTION_NAME": function.name,
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory),
        "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{function.name}",
        "AWS_LAMBDA_LOG_STREAM_NAME": "local",
        "HINDSIGHT_ENVIRONMENT": "local",
    }
    if function.database_role is not None:
        variables["HINDSIGHT_DEV_TENANT"] = str(options.dev_tenant)
        variables["HINDSIGHT_DATABASE_URL"] = addresses.database_urls[function.database_role.value]
    variables |= aws_variables(options.bedrock_aws)
    variables["AWS_ENDPOINT_URL_SQS"] = addresses.sqs
    if addresses.bedrock is not None:
        variables |= dict.fromkeys(_BEDROCK_ENDPOINTS, addresses.bedrock)
        variables = model_settings(function, options.local_model) | variables
    if options.jwt is not None:
        variables[ISSUER] = options.jwt.issuer
    if addresses.faults is not None:
        variables["HINDSIGHT_FAULTS"] = addresses.faults
    if function.files and options.topology.bucket is not None:
        variables["AWS_ENDPOINT_URL_S3"] = addresses.s3
        variables[options.topology.bucket.setting] = options.topology.bucket.name
    variables |= _marks(function, options, addresses)
    if function.signs:
        variables["AWS_ENDPOINT_URL_KMS"] = addresses.kms
        variables[RECEIPT_KEY_SETTING] = KEY_ID
    for name in function.starts:
        variables["AWS_ENDPOINT_URL_SFN"] = addresses.workflows
        variables[workflow_setting(name)] = machine_arn(name)
    for name in function.sends_to:
        variables[options.topology.queue(name).url_setting] = addresses.queue_urls[name]
    return variables | dict(function.environment) | dict(options.environment)


def _marks(function: Function, options: StackOptions, addresses: Addresses) -> dict[str, str]:
    """Where the function marks work that it may commit, or reads such marks; nothing for one that does neither."""
    named = {MARKS_SET_SETTING: function.marks_work, MARKS_READ_SETTING: function.reads_marks}
    told = [setting for setting, is_told in named.items() if is_told]
    if not options.database_pauses or options.topology.bucket is None or not told:
        return {}
    return {"AWS_ENDPOINT_URL_S3": addresses.s3} | dict.fromkeys(told, options.topology.bucket.name)


def task_root(function: Function, options: StackOptions) -> Path:
    """The folder of the function's own code: its unpacked archive, or its folder in the checkout."""
    if options.mounted is not None:
        return options.mounted.task_root(function)
    return options.repository / function.directory


def _own_code(function: Function, options: StackOptions) -> dict[str, str]:
    """Where the function's code is, and how it is started; what is mounted is found by the entry, as Lambda's is."""
    is_restored = options.snap_start and function.is_api
    found = {
        "LAMBDA_TASK_ROOT": str(task_root(function, options)),
        "AWS_LAMBDA_INITIALIZATION_TYPE": "snap-start" if is_restored else "on-demand",
    }
    return found if options.mounted is not None else found | {"PYTHONPATH": str(options.repository / "shared")}


def aws_variables(is_real: bool, surroundings: Mapping[str, str] | None = None) -> dict[str, str]:
    """Made-up credentials; the caller's own, with his region, only when real models were asked for.

    A common endpoint of the caller's does not pass, for it would lead the stack's own queues astray as well; those of
    the two Bedrock services do: they may be his private ones.
    """
    ours = os.environ if surroundings is None else surroundings
    if not is_real:
        return {
            "AWS_REGION": _REGION,
            "AWS_DEFAULT_REGION": _REGION,
            "AWS_ACCESS_KEY_ID": "local",
            "AWS_SECRET_ACCESS_KEY": "local",
            "AWS_EC2_METADATA_DISABLED": "true",
        }
    own = {name: value for name, value in ours.items() if name.startswith(_AWS_PREFIX)}
    for name in [name for name in own if name.startswith(_ENDPOINT) and name not in _BEDROCK_ENDPOINTS]:
        del own[name]
    region = own.get("AWS_REGION") or own.get("AWS_DEFAULT_REGION") or _region_of_profile() or _REGION
    return own | {"AWS_REGION": region, "HOME": ours.get("HOME", "")}


def _region_of_profile() -> str | None:
    import botocore.session

    region = botocore.session.Session().get_config_variable("region")
    return region if isinstance(region, str) else None
