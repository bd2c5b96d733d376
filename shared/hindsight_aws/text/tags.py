"""The tags that are put on something: cleaned and within their limits.  Called by every use case that takes tags."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hindsight_aws.errors import InvalidField
from hindsight_aws.text.sanitise import clean, is_blank

LONGEST_TAG_BYTES: Final = 512
MOST_TAGS: Final = 100


def check_tags(tags: Iterable[str], field: str) -> tuple[str, ...]:
    """The tags cleaned, each once, without blank ones.  Raises InvalidField."""
    cleaned = tuple(dict.fromkeys(tag for raw in tags if not is_blank(tag := clean(raw).strip())))
    if len(cleaned) > MOST_TAGS:
        raise InvalidField(field, f"must hold at most {MOST_TAGS} tags")
    for tag in cleaned:
        if len(tag.encode()) > LONGEST_TAG_BYTES:
            raise InvalidField(field, f"must hold tags of at most {LONGEST_TAG_BYTES} bytes of UTF-8")
    return cleaned
