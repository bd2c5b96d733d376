"""What pages tell an operator to type: `hindsight-aws` takes it, and a payload reaches a function as it is written."""

import json
import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from itertools import pairwise

import pytest

from hindsight_aws.cli.arguments import parser
from hindsight_aws.model.metric import Metric
from infra.cloud.config import read_config
from tests.lint.repository import ROOT

_PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
_BLOCK = re.compile(r"^```(?:sh|bash)?\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`(hindsight-aws [^`]+)`")
_PAYLOAD = re.compile(r"\{\"Command\": \[.*?\]\}")
_PLACEHOLDER = re.compile(r"<[^>]+>|…|\b(?:TENANT|KEY|OPERATION)\b")
_SOME_ID = "00000000-0000-4000-8000-000000000000"


def _lines(text: str) -> Iterator[str]:
    for block in _BLOCK.findall(text):
        yield from block.replace("\\\n", " ").splitlines()


def _commands(text: str) -> Iterator[tuple[list[str], bool]]:
    """Words after `hindsight-aws`, and whether they are a whole command or only name one within a sentence."""
    for line in _lines(text):
        if line.strip().startswith("hindsight-aws "):
            command, _, _ = _PLACEHOLDER.sub(_SOME_ID, line).partition(" > ")
            yield shlex.split(command, comments=True)[1:], True
    for payload in _PAYLOAD.findall(text):
        yield json.loads(_PLACEHOLDER.sub(_SOME_ID, payload))["Command"], True
    for command in _INLINE.findall(text):
        yield shlex.split(_PLACEHOLDER.sub(_SOME_ID, command).partition(" > ")[0])[1:], False


def _refusal(words: list[str], *, is_whole: bool) -> str:
    """What the command line has against these words; nothing if it takes them."""
    said = StringIO()
    try:
        with redirect_stderr(said), redirect_stdout(StringIO()):
            parser().parse_args(words)
    except SystemExit as ended:
        is_named = not is_whole and "the following arguments are required" in said.getvalue()
        return "" if not ended.code or is_named else said.getvalue().splitlines()[-1]
    return ""


def test_every_command_of_a_page_is_one_that_the_command_line_takes() -> None:
    told = [(page, *each) for page in _PAGES for each in _commands(page.read_text(encoding="utf-8"))]

    refused = [
        f"{page.relative_to(ROOT)}: {shlex.join(words)}: {refusal}"
        for page, words, is_whole in told
        if (refusal := _refusal(words, is_whole=is_whole))
    ]

    assert len(told) > 30
    assert refused == []


@pytest.mark.parametrize("words", [["redrive", "--al1"], ["tenants", "list"], ["usage", "--by", "colour"]], ids=str)
def test_a_command_that_there_is_not_would_be_found(words: list[str]) -> None:
    assert _refusal(words, is_whole=False)


def _of_the_cdk(line: str) -> tuple[list[str], dict[str, object]]:
    """The stacks that a line of the CDK's command line names, and the options that it gives."""
    words = shlex.split(_PLACEHOLDER.sub("x", line), comments=True)[3:]
    given = [words[place + 1] for place, word in enumerate(words[:-1]) if word == "-c"]
    named = [word for word in words if word not in given and not word.startswith("-")]
    return named, {name: value for name, _, value in (pair.partition("=") for pair in given)}


def test_the_cdk_finds_the_stacks_and_takes_the_options_that_a_page_gives() -> None:
    lines = [(page, line) for page in _PAGES for line in _lines(page.read_text(encoding="utf-8"))]
    told = [(page, *_of_the_cdk(line)) for page, line in lines if re.match(r"\s*npx aws-cdk@2 (deploy|destroy)", line)]

    lost = [
        f"{page.relative_to(ROOT)}: {stack}"
        for page, stacks, options in told
        for stack in stacks
        if stack not in {read_config(options).stack_prefix + part for part in ("Data", "Service")}
    ]

    assert len(told) > 6
    assert lost == []


def test_a_snapshot_is_waited_for_before_anything_is_made_of_it() -> None:
    hasty = [
        f"{page.relative_to(ROOT)}: {line}"
        for page in _PAGES
        for block in _BLOCK.findall(page.read_text(encoding="utf-8"))
        for line, following in pairwise(block.replace("\\\n", " ").splitlines())
        if re.match(r"aws rds (restore|create)-db-cluster", line) and not following.startswith("aws rds wait")
    ]

    assert hasty == []


def test_a_query_by_model_or_task_asks_the_lines_that_say_them() -> None:
    """Which are those of a metric about models: a line of the log says neither."""
    queries = [
        (page.name, query)
        for page in _PAGES
        for query in _BLOCK.findall(page.read_text(encoding="utf-8"))
        if re.search(r"\bstats\b.* by\b.*\b(model|task)\b", query)
    ]

    blind = [
        page
        for page, query in queries
        if not any(f"ispresent({metric}.0)" in query for metric in Metric if metric.value in query)
    ]

    assert len(queries) > 2
    assert blind == []


def test_every_make_target_of_a_page_is_one_of_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    texts = [(page, page.read_text(encoding="utf-8")) for page in _PAGES]
    told = [(page, name) for page, text in texts for name in re.findall(r"`make ([a-z-]+)", text)]
    told += [
        (page, name)
        for page, text in texts
        for line in _lines(text)
        for name in re.findall(r"^(?:[A-Z_]+=\S+ )*make ([a-z-]+)", line)
    ]

    assert len(told) > 10
    assert [f"{page.relative_to(ROOT)}: {name}" for page, name in told if name not in targets] == []


def test_a_payload_for_a_function_is_not_taken_for_base64() -> None:
    silent = [
        f"{page.relative_to(ROOT)}: {line.strip()}"
        for page in _PAGES
        for line in [*_lines(page.read_text(encoding="utf-8")), *page.read_text(encoding="utf-8").splitlines()]
        if "lambda invoke" in line and "--payload" in line and "raw-in-base64-out" not in line
    ]

    assert silent == []
