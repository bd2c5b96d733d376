"""These tests speak to the API through the Lambda handler."""

from tests.support.api import call, handler, module_store, module_tenant, owner_store, services

__all__ = ["call", "handler", "module_store", "module_tenant", "owner_store", "services"]
