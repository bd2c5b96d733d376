"""A small HTTP/1.1 server for the loopback doors: gateway, Runtime API, SQS. Knows nothing of what it serves."""

from infra.local.http.endpoint import Endpoint
from infra.local.http.messages import HttpRequest, HttpResponse
from infra.local.http.server import HttpServer

__all__ = ["Endpoint", "HttpRequest", "HttpResponse", "HttpServer"]
