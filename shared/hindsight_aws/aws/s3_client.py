"""The client of S3, made the same way for files and for marks.  Called by s3.py and marks.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from hindsight_aws.settings import Settings

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


def s3_client(settings: Settings, *, connect_s: float, read_s: float, attempts: int) -> S3Client:
    """A client of the deployment's region that honours AWS_ENDPOINT_URL_S3.  Limits are seconds an attempt."""
    import boto3
    from botocore.config import Config

    # One name for a bucket in every region, as the endpoint policy and the presigned address need it; on the
    # laptop the bucket's name cannot become part of a loopback host.
    style: Literal["path", "virtual"] = "path" if settings.hindsight_environment == "local" else "virtual"
    config = Config(
        signature_version="s3v4",
        s3={"addressing_style": style, "us_east_1_regional_endpoint": "regional"},
        connect_timeout=connect_s,
        read_timeout=read_s,
        retries={"total_max_attempts": attempts, "mode": "standard"},
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    return boto3.session.Session().client("s3", region_name=settings.aws_region, config=config)
