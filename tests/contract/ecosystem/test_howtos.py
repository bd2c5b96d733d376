"""What the pages about clients show is run as it stands, and prints what they say it prints."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.contract.ecosystem.installed import integrations_python, node, packages

if TYPE_CHECKING:
    from infra.local.stack import LocalStack

_PAGES = Path(__file__).parents[3] / "docs" / "howto"
_ADDRESS = "http://127.0.0.1:8888"


def blocks(page: str, language: str) -> str:
    """The one block of the page in this language."""
    text = (_PAGES / page).read_text(encoding="utf-8")
    (block,) = re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return str(block)


def said_by(command: Sequence[str], program: str, where: Path) -> str:
    """What the program prints when its text comes in as a file of the command."""
    # No region is looked for and no model is called: one of the integrations makes its client of Bedrock at once.
    environment = {**os.environ, "AWS_REGION": "eu-central-1", "PYTHONWARNINGS": "ignore"}
    ran = subprocess.run(
        [*command, program], cwd=where, env=environment, capture_output=True, text=True, timeout=200, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def shown(page: str, language: str, stack: LocalStack, where: Path) -> str:
    """The page's program in a file, asking the stack."""
    program = where / f"shown.{'mjs' if language == 'js' else language}"
    program.write_text(blocks(page, language).replace(_ADDRESS, stack.base_url), encoding="utf-8")
    return str(program)


@pytest.mark.usefixtures("bedrock")
class TestShown:
    def test_the_python_client_does_what_its_page_says(self, stack: LocalStack, tmp_path: Path) -> None:
        program = shown("python-client.md", "python", stack, tmp_path)

        assert said_by([sys.executable], program, tmp_path) == blocks("python-client.md", "text")

    @pytest.mark.parametrize("page", ["langgraph.md", "strands.md"])
    def test_an_integration_does_what_its_page_says(self, page: str, stack: LocalStack, tmp_path: Path) -> None:
        program = shown(page, "python", stack, tmp_path)

        assert said_by([integrations_python()], program, tmp_path) == blocks(page, "text")

    def test_the_typescript_client_does_what_its_page_says(self, stack: LocalStack, tmp_path: Path) -> None:
        (tmp_path / "node_modules").symlink_to(packages() / "node_modules")
        program = shown("typescript-client.md", "js", stack, tmp_path)

        assert said_by([node()], program, tmp_path) == blocks("typescript-client.md", "text")

    @pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
    def test_curl_does_what_its_page_says(self, stack: LocalStack, tmp_path: Path) -> None:
        program = shown("curl.md", "sh", stack, tmp_path)

        assert said_by(["sh"], program, tmp_path) == blocks("curl.md", "text")


def test_a_page_that_is_run_asks_the_address_that_make_run_serves() -> None:
    for page, language in (("python-client.md", "python"), ("typescript-client.md", "js"), ("curl.md", "sh")):
        assert blocks(page, language).count(_ADDRESS) == 1, page
