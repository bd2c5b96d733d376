"""The queues that the settings know, by name.  Used by `redrive` and `doctor`; asks no queue anything."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from hindsight_aws.settings import Settings

_QUEUE_SETTING: Final = re.compile(r"hindsight_queue_(\w+)_url")


def queue_urls(settings: Settings) -> Mapping[str, str]:
    """The URL of each queue that the settings know, by the queue's name; queues without one are left out."""
    named = {name: str(getattr(settings, setting)) for name, setting in queue_settings().items()}
    return {name: url for name, url in named.items() if url}


def queue_settings() -> Mapping[str, str]:
    """The setting that holds the URL of each queue, by the queue's name."""
    return {found[1]: name for name in Settings.model_fields if (found := _QUEUE_SETTING.fullmatch(name))}
