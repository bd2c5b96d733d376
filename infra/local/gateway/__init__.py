"""The HTTP API and the function URLs on this machine: requests become payload-v2 events, answers become responses."""

from infra.local.gateway.gateway import FunctionUrl, Gateway, Invoker
from infra.local.gateway.routes import RouteMatch, RouteTable

__all__ = ["FunctionUrl", "Gateway", "Invoker", "RouteMatch", "RouteTable"]
