"""docs/settings.md says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from hindsight_aws.cli.settings_page import page
from hindsight_aws.configuration.fields import FIELDS

ROOT = Path(__file__).parents[2]


def test_the_settings_page_is_the_one_the_code_makes() -> None:
    written = (ROOT / "docs" / "settings.md").read_text("utf-8")

    assert written == page(), "run: hindsight-aws settings > docs/settings.md"


def test_a_bank_setting_that_is_said_to_be_honoured_is_read_somewhere_and_no_other_is() -> None:
    sources = [
        path.read_text("utf-8")
        for path in (ROOT / "shared" / "hindsight_aws").rglob("*.py")
        if path.parent.name not in ("configuration", "schemas")
    ]
    read = {name for source in sources for name in re.findall(r"\.([a-z_]+)\b", source)}
    read |= {name for source in sources for name in re.findall(r'"([a-z_]+)"', source)}

    honoured = {name for name, field in FIELDS.items() if not field.without_effect}

    assert honoured - read == set()
    assert (set(FIELDS) - honoured) & read == set()
