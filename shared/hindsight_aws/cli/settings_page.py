"""docs/settings.md, rendered from the settings themselves.  Called by the `settings` command and by a test."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from hindsight_aws.configuration.config import DEFAULTS
from hindsight_aws.configuration.field import BankField, Kind
from hindsight_aws.configuration.fields import FIELDS
from hindsight_aws.settings import Settings

_HEAD = """# Settings

Made by `hindsight-aws settings > docs/settings.md`; a test fails when this page and the code differ.

## Of a function's process

Environment variables, read once at start; a wrong value stops the process with a sentence that names it.

| variable | type | default | meaning |
|---|---|---|---|
"""
_BANK = """
## Of a bank

Set for all banks by `HINDSIGHT_API_<FIELD>` in the environment (lists and objects as JSON), and for one bank by
`PATCH /v1/default/banks/{bank_id}/config` with `{"updates": {"<field>": value}}`; null takes a bank's own value away.
Every field is accepted, checked and given back; what has no effect here says why.

| field | type | default | accepted | meaning | effect |
|---|---|---|---|---|---|
"""
_WORDS = {
    Kind.BOOLEAN: "boolean",
    Kind.INTEGER: "integer",
    Kind.NUMBER: "number",
    Kind.STRING: "text",
    Kind.LIST: "list",
    Kind.OBJECT: "object",
    Kind.STRING_OR_LIST: "text or list",
}


def page() -> str:
    """The page as it must be."""
    return _HEAD + "".join(_variables()) + _BANK + "".join(_bank_line(field) for field in FIELDS.values())


def _variables() -> Iterator[str]:
    for name, field in Settings.model_fields.items():
        if name != "bank_defaults":
            says = _cell(field.description or "")
            yield f"| `{name.upper()}` | {_type(field)} | {_shown(field.default)} | {says} |\n"


def _type(field: FieldInfo) -> str:
    words = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
    if words:
        return _cell(" | ".join(str(word) for word in words))
    text = field.annotation.__name__ if isinstance(field.annotation, type) else str(field.annotation)
    return _cell(text.replace("uuid.", "").replace("typing.", ""))


def _bank_line(field: BankField) -> str:
    effect = f"none: {field.without_effect}" if field.without_effect else "honoured"
    cells = (
        f"`{field.name}`",
        _WORDS[field.kind],
        _shown(DEFAULTS[field.name]),
        field.accepts or _WORDS[field.kind],
        field.says,
        effect,
    )
    return f"| {' | '.join(cells)} |\n"


def _shown(value: object) -> str:
    if value is None:
        return "unset"
    return f"`{json.dumps(value)}`" if not isinstance(value, str) or not value else f"`{value}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
