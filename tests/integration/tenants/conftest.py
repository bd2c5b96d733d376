"""Fixtures of this folder: the owner's store beside the functions'."""

from __future__ import annotations

from tests.support.api import module_store, owner_store

__all__ = ["module_store", "owner_store"]
