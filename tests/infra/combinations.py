"""Which options go together: two deployments that between them use every option, and pairs of all for the deep dose.

Run as `python -m tests.infra.combinations FOLDER NAME…` it synthesises those in one process, each into a folder of its
name, and prints what refused as JSON. Used by conftest.py and test_options.py.
"""

import json
import sys
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Final

Context = Mapping[str, str]

_VPC: Final = {
    "vpcId": "vpc-0123456789abcdef0",
    "subnetIds": "subnet-0123456789abcdef0,subnet-0123456789abcdef1",
    "routeTableIds": "rtb-0123456789abcdef0,rtb-0123456789abcdef1",
}
_THEIRS: Final = {
    "databaseHost": "memories.cluster-abc.eu-central-1.rds.amazonaws.com",
    "databaseName": "memories",
    "databaseResourceId": "cluster-ABCDEFGHIJKLMNOP",
    "databaseSecurityGroup": "sg-0123456789abcdef0",
    "databaseSecretArn": "arn:aws:secretsmanager:eu-central-1:123456789012:secret:memories-AbCdEf",
    "databaseSecretKeyArn": "arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d",
}
_DOMAIN: Final = {
    "domainName": "memory.example.com",
    "certificateArn": "arn:aws:acm:eu-central-1:123456789012:certificate/0a1b2c3d",
}
_FIREWALL: Final = {
    "domainName": "memory.example.com",
    "certificateArn": "arn:aws:acm:us-east-1:123456789012:certificate/0a1b2c3d",
    "webAclArn": "arn:aws:wafv2:us-east-1:123456789012:global/webacl/rules/0a1b2c3d",
    "functionUrls": "false",
}
_TOKENS: Final = {"jwtIssuer": "https://id.example.com/", "jwtAudience": "memory,agents"}
APPLICATION_PROFILE: Final = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3d4"
_PROFILES: Final = {"inferenceProfiles": json.dumps({"us.anthropic.claude-sonnet-4-6": APPLICATION_PROFILE})}
_RERANK: Final = {"settings": json.dumps({"HINDSIGHT_API_RERANKER_MODEL": "cohere.rerank-v3-5:0"})}

EVERYTHING: Final[Context] = {
    "profile": "prod",
    "network": "nat-instance",
    "endpointZones": "2",
    "workflowType": "EXPRESS",
    "alarmEmail": "ops@example.com",
    "alarmTopicArn": "arn:aws:sns:eu-central-1:123456789012:pager",
    "budgetUsd": "500",
    "databaseSnapshot": "as-of-ten",
    "backupCopyVaultArn": "arn:aws:backup:eu-west-1:123456789012:backup-vault:copies",
    "hostedZoneId": "Z0123456789ABC",
    "jwtDomainName": "tokens.example.com",
    **_DOMAIN,
    **_TOKENS,
    **_RERANK,
    **_PROFILES,
}
THEIRS: Final[Context] = {"profile": "dev", "network": "existing", **_VPC, **_THEIRS, **_FIREWALL}

_AXES: Final[Mapping[str, Mapping[str, Context]]] = {
    "profile": {"dev": {"profile": "dev"}, "prod": {"profile": "prod"}},
    "network": {
        "endpoints": {},
        "nat": {"network": "nat-instance"},
        "vpc": _VPC,
        "existing": {"network": "existing", **_VPC},
    },
    "database": {"new": {}, "theirs": _THEIRS},
    "door": {"plain": {}, "domain": _DOMAIN, "firewall": _FIREWALL, "closed": {"functionUrls": "false"}},
    "tokens": {"none": {}, "issuer": _TOKENS},
    "workflow": {"standard": {}, "express": {"workflowType": "EXPRESS"}},
    "told": {
        "nobody": {},
        "mail": {"alarmEmail": "ops@example.com", "budgetUsd": "100"},
        "topic": {"alarmTopicArn": "arn:aws:sns:eu-central-1:123456789012:pager"},
    },
    "models": {"text": {}, "rerank": _RERANK, "none": {"settings": '{"HINDSIGHT_API_LLM_PROVIDER": "none"}'}},
}


def pairwise() -> dict[str, Context]:
    """Deployments in which each value of an option meets each value of every other that it can be had with."""
    wanted = {pair for one, other in combinations(_AXES, 2) for pair in _pairs(one, other)}
    chosen: dict[str, Context] = {}
    while wanted:
        choice = _grown(dict(min(wanted)), wanted)
        covered = {pair for pair in wanted if set(pair) <= choice.items()}
        wanted -= covered
        context: dict[str, str] = {}
        for axis, value in choice.items():
            context |= _AXES[axis][value]
        chosen["-".join(choice[axis] for axis in _AXES)] = context
    return chosen


Pair = tuple[tuple[str, str], tuple[str, str]]


def _grown(choice: dict[str, str], wanted: set[Pair]) -> dict[str, str]:
    """A whole deployment around a pair, each further option the one that brings most pairs that are still wanted."""
    for axis, values in _AXES.items():
        if axis in choice:
            continue
        possible = [value for value in values if _goes(choice | {axis: value})]
        choice = choice | {axis: max(possible, key=lambda value: _gain(choice | {axis: value}, wanted))}
    return choice


def _gain(choice: dict[str, str], wanted: set[Pair]) -> int:
    return sum(1 for pair in wanted if set(pair) <= choice.items())


def _pairs(one: str, other: str) -> set[Pair]:
    return {
        ((one, value), (other, another))
        for value in _AXES[one]
        for another in _AXES[other]
        if _goes({one: value, other: another})
    }


def _goes(choice: Mapping[str, str]) -> bool:
    """Whether the options' own rules let these be had together; what is not chosen yet forbids nothing."""
    if choice.get("database") == "theirs" and choice.get("network", "vpc") not in {"vpc", "existing"}:
        return False
    return not (choice.get("door") == "firewall" and choice.get("tokens") == "issuer")


def known() -> dict[str, Context]:
    """Every deployment that can be asked for by name."""
    return {"everything": EVERYTHING, "theirs": THEIRS, **pairwise()}


def main() -> None:
    """Synthesises what the arguments name, after the folder."""
    folder, *names = sys.argv[1:]
    from infra.cloud.node import use_bundled_node

    use_bundled_node()  # before the CDK is imported, which starts it
    from infra.app import read_context, synthesise

    refused = {}
    contexts = known()
    for name in names:
        try:
            synthesise({**read_context(), "assets": "stub", **contexts[name]}, str(Path(folder) / name))
        except (RuntimeError, ValueError) as wrong:
            refused[name] = str(wrong)
    json.dump(refused, sys.stdout)


if __name__ == "__main__":
    main()
