"""The operator's name for the API: a domain of API Gateway's, or CloudFront with a web ACL where one is asked for.

Made by the service stack. An HTTP API takes no web ACL itself, hence CloudFront
(docs/adr/0017-a-web-acl-stands-on-cloudfront.md).
"""

from typing import Final

from aws_cdk import Aws, CfnOutput, Duration, RemovalPolicy
from aws_cdk import aws_apigatewayv2 as api
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_cloudfront as cloudfront
from aws_cdk import aws_cloudfront_origins as origins
from aws_cdk import aws_route53 as route53
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.cloud.acknowledged import ACCESS_LOG, EDGE, acknowledge
from infra.cloud.api import HttpEntrance
from infra.cloud.config import CloudConfig

_CLOUDFRONTS_ZONE: Final = "Z2FDTNDATAQYW2"
"""The hosted zone of every distribution, by AWS's documentation of Route 53 aliases."""


class OwnName(Construct):
    """An API under that name, by API Gateway; its execute-api name is closed by who makes the entrance."""

    def __init__(
        self, scope: Construct, name: str, *, config: CloudConfig, entrance: HttpEntrance, domain_name: str
    ) -> None:
        super().__init__(scope, name)
        domain = api.DomainName(
            self,
            "Domain",
            domain_name=domain_name,
            certificate=_certificate(self, config),
            security_policy=api.SecurityPolicy.TLS_1_2,
        )
        mapping = api.CfnApiMapping(
            self, "Mapping", api_id=entrance.http.api_id, domain_name=domain.name, stage=str(entrance.stage.stage_name)
        )
        mapping.node.add_dependency(entrance.stage)
        target = domain.regional_domain_name
        _tell(self, config, domain_name, target=target, zone=domain.regional_hosted_zone_id, kinds=("A",))


class Edge(Construct):
    """CloudFront with the operator's web ACL before an API, under that name; nothing is cached."""

    def __init__(
        self, scope: Construct, name: str, *, config: CloudConfig, entrance: HttpEntrance, domain_name: str
    ) -> None:
        super().__init__(scope, name)
        origin = origins.HttpOrigin(
            f"{entrance.http.api_id}.execute-api.{Aws.REGION}.{Aws.URL_SUFFIX}",
            protocol_policy=cloudfront.OriginProtocolPolicy.HTTPS_ONLY,
            origin_ssl_protocols=[cloudfront.OriginSslPolicy.TLS_V1_2],
            read_timeout=Duration.seconds(30),
        )
        distribution = cloudfront.Distribution(
            self,
            "Distribution",
            comment="hindsight-aws",
            domain_names=[domain_name],
            certificate=_certificate(self, config),
            minimum_protocol_version=cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021,
            web_acl_id=config.web_acl_arn,
            log_bucket=_access_log(self, config),
            default_behavior=cloudfront.BehaviorOptions(
                origin=origin,
                allowed_methods=cloudfront.AllowedMethods.ALLOW_ALL,
                cache_policy=cloudfront.CachePolicy.CACHING_DISABLED,
                origin_request_policy=cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
                viewer_protocol_policy=cloudfront.ViewerProtocolPolicy.HTTPS_ONLY,
            ),
        )
        acknowledge(self, EDGE)
        target = distribution.distribution_domain_name
        _tell(self, config, domain_name, target=target, zone=_CLOUDFRONTS_ZONE, kinds=("A", "AAAA"))


def _access_log(scope: Construct, config: CloudConfig) -> s3.Bucket:
    """Where CloudFront writes who asked, which it can do with S3's own encryption and by access list only."""
    bucket = s3.Bucket(
        scope,
        "AccessLog",
        encryption=s3.BucketEncryption.S3_MANAGED,
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        object_ownership=s3.ObjectOwnership.BUCKET_OWNER_PREFERRED,
        enforce_ssl=True,
        minimum_tls_version=1.2,
        lifecycle_rules=[s3.LifecycleRule(expiration=Duration.days(config.log_days))],
        removal_policy=RemovalPolicy.RETAIN,
    )
    acknowledge(bucket, ACCESS_LOG)
    return bucket


def _certificate(scope: Construct, config: CloudConfig) -> acm.ICertificate:
    return acm.Certificate.from_certificate_arn(scope, "Certificate", str(config.certificate_arn))


def _tell(
    scope: Construct, config: CloudConfig, domain_name: str, *, target: str, zone: str, kinds: tuple[str, ...]
) -> None:
    """Points the name there, or says where the operator has to point it."""
    CfnOutput(scope, "Url", value=f"https://{domain_name}", description="The API under its own name")
    if config.hosted_zone_id is None:
        CfnOutput(scope, "Target", value=target, description=f"Point {domain_name} there (CNAME or alias)")
        return
    for kind in kinds:
        route53.CfnRecordSet(
            scope,
            f"Record{kind}",
            hosted_zone_id=config.hosted_zone_id,
            name=f"{domain_name}.",
            type=kind,
            alias_target=route53.CfnRecordSet.AliasTargetProperty(dns_name=target, hosted_zone_id=zone),
        )
