"""What can stand behind Converse: something that replies to a request it can read, and says whether it takes its time.

Used by `app`; kept by the rules here and by `qwen`.
"""

from __future__ import annotations

from typing import Protocol

from infra.local.bedrock import rules
from infra.local.bedrock.converse import Reply, Request
from infra.local.bedrock.rules.material import Material
from infra.local.bedrock.scripts import Failure


class Speaker(Protocol):
    """Replies, one way or another."""

    @property
    def is_slow(self) -> bool:
        """Whether a call whose caller has gone is worth ending."""
        ...

    async def reply(self, task: str | None, request: Request, material: Material) -> Reply | Failure:
        """The reply, or how the call failed. Cancelled when the caller has gone. Raises: ValueError for a refusal."""
        ...


class RuleSpeaker:
    """The rules."""

    is_slow = False

    async def reply(self, task: str | None, request: Request, material: Material) -> Reply | Failure:
        """What the rules reply; they never fail."""
        return rules.answer(task, request, material)
