"""Fixtures of the import tests: the API in this process."""

from tests.support.api import call, services

__all__ = ["call", "services"]
