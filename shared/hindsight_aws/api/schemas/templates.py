"""The document that a bank template is: read, shown, and described as a JSON Schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from hindsight_aws.api.schemas.directives import CreateDirectiveRequest
from hindsight_aws.api.schemas.mental_models import CreateMentalModelBody
from hindsight_aws.api.schemas.text import without_surrogates
from hindsight_aws.banks.template import Template
from hindsight_aws.configuration.answer_fields import OWN
from hindsight_aws.configuration.field import Kind
from hindsight_aws.configuration.fields import FIELDS
from hindsight_aws.errors import InvalidRequest
from hindsight_aws.mental_models.manage import ModelRequest
from hindsight_aws.ports.directives import DirectiveText

_OURS = frozenset(field.name for field in OWN)
_MOST_TOLD = 10
_JSON_TYPES: Mapping[Kind, list[str]] = {
    Kind.BOOLEAN: ["boolean"],
    Kind.INTEGER: ["integer"],
    Kind.NUMBER: ["number"],
    Kind.STRING: ["string"],
    Kind.LIST: ["array"],
    Kind.OBJECT: ["object"],
    Kind.STRING_OR_LIST: ["string", "array"],
}


class TemplateMentalModel(CreateMentalModelBody):
    """A mental model of a template, which names its id."""

    id: str


class Manifest(BaseModel):
    """A bank template."""

    model_config = ConfigDict(title="BankTemplateManifest")

    version: str
    bank: dict[str, object] | None = None
    mental_models: list[TemplateMentalModel] | None = None
    directives: list[CreateDirectiveRequest] | None = None

    @model_validator(mode="before")
    @classmethod
    def _made_whole(cls, body: object) -> object:
        return without_surrogates(body)

    def as_template(self) -> Template:
        """The template as the use case takes it; a setting that is null says nothing."""
        settings = {name: value for name, value in (self.bank or {}).items() if value is not None}
        models = [model.as_request() for model in self.mental_models or []]
        return Template(self.version, settings, models, [text.as_text() for text in self.directives or []])


def read_manifest(body: bytes) -> Template:
    """The template in a request's body.  Raises InvalidRequest naming every field that is not as it should be."""
    return _read(lambda: Manifest.model_validate_json(body))


def template_of(document: Mapping[str, object]) -> Template:
    """The template that a document is.  Raises as `read_manifest`."""
    return _read(lambda: Manifest.model_validate(document))


def _read(validate: Callable[[], Manifest]) -> Template:
    try:
        return validate().as_template()
    except ValidationError as wrong:
        found = [f"{'.'.join(map(str, each['loc'])) or 'body'}: {each['msg']}" for each in wrong.errors()[:_MOST_TOLD]]
        raise InvalidRequest(f"Template schema validation failed: {'; '.join(found)}") from None


def shown(template: Template) -> dict[str, object]:
    """A bank's template on the wire: each setting of the contract, null where the bank has none of its own."""
    own = {name: template.settings.get(name) for name in FIELDS if name not in _OURS or name in template.settings}
    return {
        "version": template.version,
        "bank": own if any(value is not None for value in own.values()) else None,
        "mental_models": [_model(model) for model in template.models] or None,
        "directives": [_directive(text) for text in template.directives] or None,
    }


@cache
def manifest_schema() -> dict[str, object]:
    """The JSON Schema of a template, each setting of a bank with what it does."""
    schema = Manifest.model_json_schema()
    settings = {
        name: {"type": [*_JSON_TYPES[field.kind], "null"], "description": field.says} for name, field in FIELDS.items()
    }
    bank = {"type": ["object", "null"], "properties": settings, "additionalProperties": False, "default": None}
    return {**schema, "properties": {**schema["properties"], "bank": bank}}


def _model(model: ModelRequest) -> dict[str, object]:
    return {
        "id": model.id,
        "name": model.name,
        "source_query": model.source_query,
        "tags": model.tags,
        "max_tokens": model.max_tokens,
        "trigger": model.trigger,
    }


def _directive(text: DirectiveText) -> dict[str, object]:
    return {
        "name": text.name,
        "content": text.content,
        "priority": text.priority,
        "is_active": text.is_active,
        "tags": list(text.tags),
    }
