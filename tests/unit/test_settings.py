"""What a process says of settings that it cannot start with."""

from __future__ import annotations

import pytest

from hindsight_aws.settings import WrongSetting, load_settings


@pytest.mark.parametrize(
    "name", ["HINDSIGHT_VOLATILE_TAGS", "HINDSIGHT_MCP_ALLOWED_ORIGINS", "HINDSIGHT_API_WEBHOOK_EVENT_TYPES"]
)
def test_a_list_that_is_no_json_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "session:")

    with pytest.raises(WrongSetting, match=f"^{name}: "):
        load_settings()
