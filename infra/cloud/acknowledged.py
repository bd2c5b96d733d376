"""Findings of cdk-nag that stand, each with its reason; any other fails the synthesis. Called by stacks.py."""

from collections.abc import Mapping
from typing import Final

from aws_cdk import Acknowledgment, Validations
from constructs import IConstruct

FUNCTIONS: Final[Mapping[str, str]] = {
    "AwsSolutions::AwsSolutions-L1": "Python 3.13 is the version that is tested and locked, supported until 2029.",
    "Serverless::Serverless-LambdaLatestVersion": "Python 3.13 is the version that is tested and locked.",
    "Serverless::Serverless-LambdaDLQ": (
        "API, queue, workflow and deployment functions are invoked synchronously; "
        "a scheduled one has a failure destination on its alias."
    ),
    "Serverless::Serverless-LambdaEventSourceMappingDestination": (
        "SQS mappings have none: what cannot be processed goes to the queue's dead-letter queue."
    ),
    "AwsSolutions::AwsSolutions-IAM5[Resource::*]": (
        "X-Ray, ec2:Describe and bedrock:Rerank know no resources; the deny of network interfaces covers all."
    ),
    "AwsSolutions::AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ec2:<AWS::Region>:<AWS::AccountId>:*/*]": (
        "Lambda makes and removes interfaces whose ids nobody knows before; the function's own code is denied these."
    ),
}

FILES: Final[Mapping[str, str]] = {
    "AwsSolutions::AwsSolutions-S1": (
        "Few functions reach the objects, which go in days or with their document; CloudTrail data events tell who did."
    ),
}

OBJECTS: Final = "A key holds a tenant, a bank and an id made when a file comes in; the bucket holds nothing else."

COPIES: Final = (
    "AWS Backup names its snapshots itself, looks for them among all, and asks the key of the vault that it copies to."
)

UNPROTECTED_DATABASE: Final[Mapping[str, str]] = {
    "AwsSolutions::AwsSolutions-RDS10": "Chosen: a database for development may be removed, and leaves a snapshot.",
}

NAT: Final[Mapping[str, str]] = {
    "AwsSolutions::AwsSolutions-EC28": "Its checks come every minute without it, and nothing else of it is watched.",
    "AwsSolutions::AwsSolutions-EC29": "It holds nothing, and the newest image takes its place with a deployment.",
}

QUEUES: Final[Mapping[str, str]] = {
    "Serverless::Serverless-SQSRedrivePolicy": "Only dead-letter queues lack one: they are the end of the line.",
}

UNDELIVERED: Final[Mapping[str, str]] = {
    **QUEUES,
    "AwsSolutions::AwsSolutions-SQS3": "It is itself where undeliverable ticks and failed scheduled runs are kept.",
}

HTTP: Final[Mapping[str, str]] = {
    "AwsSolutions::AwsSolutions-APIG4": (
        "Functions authenticate, one indexed look-up of the key's hash, so that the Function URLs behave alike."
    ),
}

ALARM_MAIL: Final[Mapping[str, str]] = {
    "Serverless::Serverless-SNSRedrivePolicy": (
        "A mail that cannot be delivered is of no use later; the alarm itself stays to be seen on the dashboard."
    ),
}

EDGE: Final[Mapping[str, str]] = {
    "AwsSolutions::AwsSolutions-CFR1": "Where callers may be is the operator's to say, in the web ACL.",
}

ACCESS_LOG: Final[Mapping[str, str]] = {
    "AwsSolutions::AwsSolutions-S1": "It is itself a log, which goes with time.",
}

WORKFLOWS: Final[Mapping[str, str]] = {
    "AwsSolutions::AwsSolutions-IAM5[Resource::*]": (
        "Delivering logs and traces knows no resources; invoking is limited to the aliases of the tasks."
    ),
}

MIGRATION: Final[Mapping[str, str]] = {
    "Serverless::Serverless-LambdaDLQ": "CloudFormation waits for the provider's answer and sees its failure itself.",
    "Serverless::Serverless-LambdaDefaultMemorySize": "The provider only passes an event on; the default is enough.",
    "Serverless::Serverless-LambdaTracing": "The provider runs once per deployment; its log tells all there is.",
}


def acknowledge(construct: IConstruct, findings: Mapping[str, str]) -> None:
    """Accepts those findings on `construct` and all within it, and nowhere else."""
    for finding, reason in findings.items():
        Validations.of(construct).acknowledge(Acknowledgment(id=finding, reason=reason))
