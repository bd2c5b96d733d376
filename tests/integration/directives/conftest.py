"""The API of this folder's tests."""

from tests.support.api import module_store, owner_store

__all__ = ["module_store", "owner_store"]
