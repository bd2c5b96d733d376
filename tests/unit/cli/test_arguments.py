"""What the command line accepts, and that every command speaks to machines as well."""

from __future__ import annotations

import os
from argparse import ArgumentParser, ArgumentTypeError, _SubParsersAction
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from hindsight_aws.cli import main
from hindsight_aws.cli.arguments import parser
from hindsight_aws.cli.command import moment, span


def _commands(of: ArgumentParser, name: str = "") -> Iterator[tuple[str, ArgumentParser]]:
    within = [action for action in of._actions if isinstance(action, _SubParsersAction)]
    if not within:
        yield name, of
    for action in within:
        for word, command in action.choices.items():
            yield from _commands(command, f"{name} {word}".strip())


COMMANDS = dict(_commands(parser()))


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_speaks_to_machines_and_says_what_it_does(name: str) -> None:
    command = COMMANDS[name]

    assert "--json" in command.format_help()
    assert command.description
    assert command.get_default("run") is not None


@pytest.mark.parametrize("name", ["tenant suspend", "key revoke"])
def test_what_cannot_be_undone_asks_to_be_confirmed(name: str) -> None:
    assert "--yes" in COMMANDS[name].format_help()


@pytest.mark.parametrize(
    ("text", "length"),
    [("30m", timedelta(minutes=30)), ("24h", timedelta(days=1)), ("0h", timedelta(0)), ("2w", timedelta(weeks=2))],
)
def test_a_span_is_a_number_and_a_unit(text: str, length: timedelta) -> None:
    assert span(text) == length


@pytest.mark.parametrize("text", ["", "h", "24", "-1h", "1.5h", "1y", "１h", "9" * 5_000 + "d", "999999999999w"])
def test_any_other_span_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="span of time"):
        span(text)


def test_a_moment_is_a_date_or_a_span_from_now() -> None:
    assert moment("2030-01-31") == datetime(2030, 1, 31, tzinfo=UTC)
    assert moment("2030-01-31T10:00:00+02:00") == datetime(2030, 1, 31, 8, tzinfo=UTC)
    assert abs(moment("90d") - datetime.now(UTC) - timedelta(days=90)) < timedelta(minutes=1)


@pytest.mark.parametrize("text", ["", "soon", "2030-13-01", "99999999w"])
def test_any_other_moment_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="ISO date"):
        moment(text)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("key", "create", "acme"), "invalid UUID value"),
        (("key", "rotate", "acme", "key"), "invalid UUID value"),
        (("nonsense",), "invalid choice"),
        ((), "required"),
    ],
    ids=["tenant", "key", "command", "nothing"],
)
def test_a_wrong_command_line_is_exit_code_two(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)

    assert ended.value.code == 2
    assert sentence in capsys.readouterr().err


def test_whoever_reads_no_further_is_not_complained_to(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    read, write = os.pipe()
    os.close(read)

    with os.fdopen(write, "w") as gone:
        monkeypatch.setattr("sys.stdout", gone)
        code = main(["model-contract", "--json"])

    assert code == 0
    assert capsys.readouterr().err == ""
