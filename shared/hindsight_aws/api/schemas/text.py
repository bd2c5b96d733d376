"""Text as it came in: made whole before any model looks at it."""

from __future__ import annotations

from pydantic import BaseModel, model_validator

from hindsight_aws.text.sanitise import clean

_DEEPEST = 64


def without_surrogates(value: object, depth: int = 0) -> object:
    """The JSON value with every lone surrogate gone from its texts: half an emoji must not cost the whole request.

    What lies deeper than 64 levels becomes null; no body we take is nested so.
    """
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "ignore")
    if depth > _DEEPEST:
        return None
    if isinstance(value, list):
        return [without_surrogates(child, depth + 1) for child in value]
    if isinstance(value, dict):
        return {
            str(without_surrogates(key, depth + 1)): without_surrogates(child, depth + 1)
            for key, child in value.items()
        }
    return value


def fit_to_store(value: object) -> object:
    """The JSON value without lone surrogates and without the controls that no database holds, in keys too."""
    return _cleaned(without_surrogates(value))


class StorableBody(BaseModel):
    """A body whose texts are all made fit to store before any field is looked at."""

    @model_validator(mode="before")
    @classmethod
    def _made_whole(cls, body: object) -> object:
        return fit_to_store(body)


def _cleaned(value: object) -> object:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(child) for child in value]
    return {clean(str(key)): _cleaned(child) for key, child in value.items()} if isinstance(value, dict) else value
