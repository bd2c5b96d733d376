"""What docs/howto/mcp.md shows works as it stands, on the local stack."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hindsight_aws.api.mcp.catalogue import TOOLS
from tests.support.bedrock import Bedrock

if TYPE_CHECKING:
    from infra.local.stack import LocalStack

_PAGE = (Path(__file__).parents[2] / "docs" / "howto" / "mcp.md").read_text(encoding="utf-8")
_ADDRESS = "http://127.0.0.1:8888"


def shown(language: str) -> str:
    """The page's one block in this language."""
    (block,) = re.findall(rf"```{language}\n(.*?)```", _PAGE, re.DOTALL)
    return str(block)


def test_what_is_shown_works(stack: LocalStack, bedrock: Bedrock) -> None:
    said = io.StringIO()

    with contextlib.redirect_stdout(said):
        exec(compile(shown("python").replace(_ADDRESS, stack.base_url), "mcp.md", "exec"), {})  # noqa: S102  # our page

    assert said.getvalue() == shown("text")
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    command = shown("sh").replace(_ADDRESS, stack.base_url)
    answer = subprocess.run(["sh", "-c", command], check=True, capture_output=True, text=True, timeout=120).stdout
    assert "Ada keeps bees in Lyon." in json.loads(answer)["result"]["content"][0]["text"]


def test_the_page_counts_the_tools() -> None:
    of_one = sum(not tool.of_many for tool in TOOLS.values())

    counted = re.findall(r"^\| `/mcp.*?\| (\d+),", _PAGE, re.MULTILINE)

    assert counted == [str(of_one), str(len(TOOLS))]
    json.loads(shown("json"))
