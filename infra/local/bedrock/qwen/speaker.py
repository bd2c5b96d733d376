"""The small model as `app` asks it: a Converse request in, a reply or Bedrock's refusal out.

Joined to the endpoint by `__main__`; calls `chat`, `expected` and `engine`.
"""

from __future__ import annotations

from dataclasses import replace

from infra.local.bedrock.converse import Reply, Request
from infra.local.bedrock.qwen.chat import chat_of
from infra.local.bedrock.qwen.engine import Engine, InputTooLong, ModelBroke, Prompt, Said
from infra.local.bedrock.qwen.expected import expected_of
from infra.local.bedrock.rules.material import Material
from infra.local.bedrock.scripts import Failure


class QwenSpeaker:
    """Keeps `speakers.Speaker`; its calls take seconds to minutes and queue one behind the other."""

    is_slow = True

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def reply(self, task: str | None, request: Request, material: Material) -> Reply | Failure:
        """What the model says, or how the call failed."""
        expected = expected_of(request)
        messages = tuple(chat_of(request, expected))
        try:
            said = await self._engine.say(Prompt(messages, expected.schema, request.max_tokens, request.temperature))
        except InputTooLong as why:
            return Failure(400, "ValidationException", f"Input is too long for requested model: {why}")
        except ModelBroke as why:
            return Failure(424, "ModelErrorException", str(why))
        stop = _cut_by(said, request)
        reply = Reply(text=said.text or None, stop=stop) if stop else expected.read(said.text)
        return replace(reply, counted=(said.read, said.written))


def _cut_by(said: Said, request: Request) -> str | None:
    """Why a reply ended early: at the limit it was given, or at the end of the context window."""
    if not said.is_cut:
        return None
    is_limit = request.max_tokens is not None and said.written >= request.max_tokens
    return "max_tokens" if is_limit else "model_context_window_exceeded"
