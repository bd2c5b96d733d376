"""The HTTP APIs in front of the functions, and the Function URLs beside them for calls of minutes.

Made by the service stack. Keys are checked in the functions, so that API and URLs behave alike. Tokens are checked by
the API, whose word the functions take. Names of the operator's own are edge.py's.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from aws_cdk import CfnOutput, RemovalPolicy
from aws_cdk import aws_apigatewayv2 as api
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk.aws_apigatewayv2_authorizers import HttpJwtAuthorizer
from aws_cdk.aws_apigatewayv2_integrations import HttpLambdaIntegration
from constructs import Construct

from infra.cloud.config import CloudConfig
from infra.cloud.functions import Deployed
from infra.cloud.naming import logical
from infra.cloud.retention import retention
from infra.topology import DEFAULT_ROUTE, Route

# The route's template, never the path: bank ids are the customer's words.
_ACCESS_LOG: Final = json.dumps(
    {
        "requestId": "$context.requestId",
        "requestTime": "$context.requestTime",
        "routeKey": "$context.routeKey",
        "status": "$context.status",
        "protocol": "$context.protocol",
        "responseLength": "$context.responseLength",
        "responseLatency": "$context.responseLatency",
        "integrationError": "$context.integrationErrorMessage",
        "sourceIp": "$context.identity.sourceIp",
    }
)


@dataclass(frozen=True, slots=True)
class Issuer:
    """Whose tokens an API accepts, and for which of the audiences (or client ids)."""

    url: str
    audience: tuple[str, ...]


class HttpEntrance(Construct):
    """Routes of the table to the aliases of their functions, on the `$default` stage, logged and throttled.

    With an `issuer` every route asks for a token of its, whose claims the functions then find in the event; without,
    the functions authenticate by key. `closed`: it answers under another name than its own only.
    """

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        config: CloudConfig,
        deployed: Mapping[str, Deployed],
        issuer: Issuer | None = None,
        closed: bool = False,
    ) -> None:
        super().__init__(scope, name)
        self.http = api.HttpApi(
            self,
            "Api",
            create_default_stage=False,
            disable_execute_api_endpoint=closed or None,
            description="hindsight-aws" if issuer is None else "hindsight-aws, for tokens",
        )
        self._authorizer = None if issuer is None else _authorizer(issuer)
        self.stage = self._add_stage(config)
        for function in deployed.values():
            self._add_routes(function)
        if not closed and config.web_acl_arn is None:
            told = "for calls of up to 30 seconds" if issuer is None else f"for tokens of {issuer.url}"
            CfnOutput(self, "Url", value=self.http.api_endpoint, description=f"The API, {told}")

    def _add_stage(self, config: CloudConfig) -> api.CfnStage:
        log = logs.LogGroup(
            self, "AccessLog", retention=retention(config.log_days), removal_policy=RemovalPolicy.DESTROY
        )
        return api.CfnStage(
            self,
            "Stage",
            api_id=self.http.api_id,
            stage_name="$default",
            auto_deploy=True,
            access_log_settings=api.CfnStage.AccessLogSettingsProperty(
                destination_arn=log.log_group_arn, format=_ACCESS_LOG
            ),
            default_route_settings=api.CfnStage.RouteSettingsProperty(
                throttling_rate_limit=config.throttle_rate,
                throttling_burst_limit=config.throttle_burst,
                detailed_metrics_enabled=True,
            ),
        )

    def _add_routes(self, function: Deployed) -> None:
        if not function.entry.routes:
            return
        has_default = any(route.path == DEFAULT_ROUTE for route in function.entry.routes)
        integration = HttpLambdaIntegration(
            f"{logical(function.entry.name)}Integration",
            function.alias,
            payload_format_version=api.PayloadFormatVersion.VERSION_2_0,
            # One permission for all routes names a stage, a method and a path; the default route has no method.
            scope_permission_to_route=has_default,
        )
        for route in function.entry.routes:
            api.HttpRoute(
                self,
                _route_id(route),
                http_api=self.http,
                route_key=_route_key(route),
                integration=integration,
                authorizer=self._authorizer,
            )


class FunctionUrls(Construct):
    """An address for each function that the table gives one, for calls of minutes; the function authenticates."""

    def __init__(self, scope: Construct, name: str, *, deployed: Mapping[str, Deployed]) -> None:
        super().__init__(scope, name)
        for function in deployed.values():
            if function.entry.function_url:
                self._add(function)

    def _add(self, function: Deployed) -> None:
        url = function.alias.add_function_url(auth_type=lambda_.FunctionUrlAuthType.NONE)
        CfnOutput(
            self,
            logical(function.entry.name),
            value=url.url,
            description=f"{function.entry.name}, for calls of minutes",
        )


def _authorizer(issuer: Issuer) -> HttpJwtAuthorizer:
    return HttpJwtAuthorizer("Jwt", issuer.url, jwt_audience=list(issuer.audience))


def _route_key(route: Route) -> api.HttpRouteKey:
    if route.path == DEFAULT_ROUTE:
        return api.HttpRouteKey.DEFAULT
    return api.HttpRouteKey.with_(route.path, api.HttpMethod(route.method))


def _route_id(route: Route) -> str:
    words = "".join(letter if letter.isalnum() else " " for letter in f"{route.method.lower()} {route.path}").split()
    return "".join(word.capitalize() for word in words)
