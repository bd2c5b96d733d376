"""The deployment's own guard of what is stored, found by its name.  Called by runtime.py."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from hindsight_aws.settings import WrongSetting

if TYPE_CHECKING:
    from hindsight_aws.ports.screening import ContentGuard


def content_guard_of(named: str) -> ContentGuard:
    """The guard whose class is named `module:Class`.  Raises WrongSetting where there is none, or it is no guard."""
    module, _, name = named.partition(":")
    try:
        guard: ContentGuard = getattr(import_module(module), name)()
    except (ImportError, AttributeError, TypeError) as fault:
        raise WrongSetting(f"HINDSIGHT_CONTENT_GUARD: {named} cannot be made: {fault}") from fault
    if not callable(getattr(guard, "find", None)):
        raise WrongSetting(f"HINDSIGHT_CONTENT_GUARD: {named} has no method `find`")
    return guard
