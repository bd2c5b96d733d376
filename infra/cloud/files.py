"""The bucket of uploaded files: encrypted, private, TLS only; what is not kept goes in days. In the stateful stack."""

from collections.abc import Iterable
from typing import Final

from aws_cdk import Aws, Duration, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hindsight_aws.ports.marks import SWEPT, TOUCHED
from infra.topology import Bucket, FileUse, Function

_ACTIONS: Final = {
    FileUse.PUT: "s3:PutObject",
    FileUse.GET: "s3:GetObject",
    FileUse.DELETE: "s3:DeleteObject",
    FileUse.KEEP: "s3:PutObject",
    FileUse.FORGET: "s3:DeleteObject",
}
_OF_LASTING: Final = frozenset({FileUse.KEEP, FileUse.FORGET})
_USE_OF_KEY: Final = {
    FileUse.PUT: "kms:GenerateDataKey",
    FileUse.GET: "kms:Decrypt",
    FileUse.KEEP: "kms:GenerateDataKey",
}


class Files(Construct):
    """The bucket, and what a function needs to use it. There is no CORS: a browser has no business with a ticket."""

    def __init__(self, scope: Construct, name: str, *, bucket: Bucket, key: kms.Key) -> None:
        super().__init__(scope, name)
        stack = Stack.of(self)
        self._key = key
        self.setting = bucket.setting
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            encryption=s3.BucketEncryption.KMS,
            encryption_key=key,
            bucket_key_enabled=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            versioned=False,
            lifecycle_rules=[
                s3.LifecycleRule(expiration=Duration.days(bucket.keep_days), prefix=bucket.passing),
                s3.LifecycleRule(abort_incomplete_multipart_upload_after=Duration.days(1)),
            ],
            removal_policy=RemovalPolicy.RETAIN,
        )
        self._passing, self._lasting = f"{bucket.passing}*", f"{bucket.lasting}*"
        self.own_objects = tuple(str(self.bucket.arn_for_objects(each)) for each in (self._passing, self._lasting))
        self.marks = tuple(str(self.bucket.arn_for_objects(mark)) for mark in (TOUCHED, SWEPT))
        # Exported under a name of ours, by which the finding that acknowledges it can be told.
        self._export = f"{stack.stack_name}FilesArn"
        self._arn = stack.export_value(self.bucket.bucket_arn, name=self._export)

    @property
    def bucket_name(self) -> str:
        """What the setting of a function holds."""
        return str(self.bucket.bucket_name)

    @property
    def wildcards(self) -> tuple[str, ...]:
        """The findings about `statements`: a key is a tenant's and a bank's, which no role knows beforehand."""
        objects = (self._passing, self._lasting)
        return tuple(f"AwsSolutions::AwsSolutions-IAM5[Resource::{self._export}/{each}]" for each in objects)

    def statements(self, function: Function) -> list[iam.PolicyStatement]:
        """Permission to do with objects what the table says, and with the key what that takes."""
        if not function.files:
            return []
        passing, lasting = f"{self._arn}/{self._passing}", f"{self._arn}/{self._lasting}"
        reached = {
            passing: [use for use in function.files if use not in _OF_LASTING],
            lasting: [use for use in function.files if use in _OF_LASTING],
        }
        return [
            *(
                iam.PolicyStatement(actions=[_ACTIONS[use] for use in uses], resources=[objects])
                for objects, uses in reached.items()
                if uses
            ),
            *self._key_for(function.files),
        ]

    def mark_statements(self, function: Function) -> list[iam.PolicyStatement]:
        """Permission to set the mark of work, or to read both and write the sweep's own; on exactly these."""
        touched, swept = (f"{self._arn}/{mark}" for mark in (TOUCHED, SWEPT))
        if function.marks_work:
            put = iam.PolicyStatement(actions=[_ACTIONS[FileUse.PUT]], resources=[touched])
            return [put, *self._key_for((FileUse.PUT,))]
        if function.reads_marks:
            get = iam.PolicyStatement(actions=[_ACTIONS[FileUse.GET]], resources=[touched, swept])
            put = iam.PolicyStatement(actions=[_ACTIONS[FileUse.PUT]], resources=[swept])
            return [get, put, *self._key_for((FileUse.PUT, FileUse.GET))]
        return []

    def _key_for(self, uses: Iterable[FileUse]) -> list[iam.PolicyStatement]:
        """What these uses take of the key, through S3 alone."""
        used = sorted({_USE_OF_KEY[use] for use in uses if use in _USE_OF_KEY})
        by_s3 = {"StringEquals": {"kms:ViaService": f"s3.{Aws.REGION}.amazonaws.com"}}
        through = iam.PolicyStatement(actions=used, resources=[self._key.key_arn], conditions=by_s3) if used else None
        return [] if through is None else [through]
