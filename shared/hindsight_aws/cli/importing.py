"""`import`: exports of Mem0 and Zep, and archives of banks, into a bank over the public API.  Calls importing/."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlencode
from uuid import uuid4

from hindsight_aws.cli.command import Answer, add, group
from hindsight_aws.cli.deployment import ask, call, reach, said
from hindsight_aws.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hindsight_aws.cli.command import Commands
    from hindsight_aws.importing import Posted, Reading

_MOST_SHOWN: Final = 20
MOST_SENT: Final = 4_000_000
"""Bytes of an archive that a request carries; a larger one is brought to the bucket first."""


def register(commands: Commands) -> None:
    """Adds the noun and its actions."""
    actions = group(commands, "import", "bring what another memory service exported into a bank")
    for name, run, says in (
        ("mem0", import_mem0, "memories and relations of Mem0, as JSON"),
        ("zep", import_zep, "sessions, messages, facts, edges, episodes and nodes of Zep, as JSON"),
    ):
        command = add(actions, name, run, says, needs_database=False)
        _reach(command, "the bank that takes it; made if there is none")
        command.add_argument("--dry-run", action="store_true", help="only tell what would be sent, and what is unknown")
    archive = add(actions, "archive", import_archive, "an archive that transfer/export made", needs_database=False)
    _reach(archive, "the bank that takes it, or with --restore-as keeps the operation; it has to be there")
    archive.add_argument("--restore-as", default="", metavar="BANK", help="make this new bank of it, settings and all")


def import_mem0(chosen: Namespace) -> Answer:
    """Imports an export of Mem0."""
    from hindsight_aws.importing import read_mem0

    return _import(chosen, read_mem0)


def import_zep(chosen: Namespace) -> Answer:
    """Imports an export of Zep."""
    from hindsight_aws.importing import read_zep

    return _import(chosen, read_zep)


def import_archive(chosen: Namespace) -> Answer:
    """Hands an archive to the API, which adds its documents to the bank, or makes another bank of it, by and by."""
    archive = _bytes_of(chosen.file)
    asked = {"mode": "restore", "target_bank_id": chosen.restore_as} if chosen.restore_as else {"mode": "merge"}
    if len(archive) > MOST_SENT:
        asked["upload_id"] = _uploaded(chosen, archive)
    body, headers = (b"", {}) if "upload_id" in asked else _form(archive)
    path = f"/v1/default/banks/{quote(chosen.bank, safe='')}/transfer/import?{urlencode(asked)}"
    answer = _post(chosen, path, body, headers)
    accepted = said(answer)
    return Answer([f"accepted: {accepted}"], json.loads(accepted))


def _form(archive: bytes) -> tuple[bytes, dict[str, str]]:
    """The archive as the file of a form, and the header that says so."""
    boundary = uuid4().hex
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="archive.zip"\r\n'
        "Content-Type: application/zip\r\n\r\n"
    )
    body = head.encode() + archive + f"\r\n--{boundary}--\r\n".encode()
    return body, {"content-type": f"multipart/form-data; boundary={boundary}"}


def _uploaded(chosen: Namespace, archive: bytes) -> str:
    """Brings the archive to the bucket, as no request carries it, and tells the id that it has there."""
    wanted = {"filename": "archive.zip", "size": len(archive), "content_type": "application/zip"}
    path = f"/v1/default/banks/{quote(chosen.bank, safe='')}/files/uploads"
    ticket = json.loads(said(_post(chosen, path, json.dumps(wanted).encode(), {"content-type": "application/json"})))
    brought = ask("PUT", ticket["url"], archive, ticket["headers"])
    if not 200 <= brought.status < 300:
        raise InvalidRequest(f"the archive was not taken by the bucket, which answered {brought.status}")
    return str(ticket["upload_id"])


def _import(chosen: Namespace, read: Callable[[list[object]], Reading]) -> Answer:
    from hindsight_aws.importing import Sending, batches_of, documents_in, send

    try:
        text = _bytes_of(chosen.file).decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        raise InvalidRequest(f"the file is not UTF-8: {wrong}") from None
    reading = read(documents_in(text))
    told = _told(reading)
    if chosen.dry_run:
        batches = sum(1 for _ in batches_of(chosen.bank, reading.records))
        lines = [f"would send {len(reading.records)} documents in {batches} operations", *_lines(reading)]
        return Answer(lines, {"sent": 0, "operations": batches, **told})
    sent = Sending()
    headers = {"content-type": "application/json"}
    for sent in send(lambda path, body: _post(chosen, path, body, headers), chosen.bank, reading.records):
        print(f"{sent.items} of {len(reading.records)} documents accepted", file=sys.stderr)
    lines = [f"sent {sent.items} documents in {len(sent.operations)} operations", *_lines(reading)]
    return Answer(lines, {"sent": sent.items, "operations": sent.operations, **told})


def _reach(command: ArgumentParser, bank: str) -> None:
    command.add_argument("file", help="the export, or - for stdin")
    command.add_argument("--bank", required=True, help=bank)
    reach(command, "an API key that may write")


def _told(reading: Reading) -> dict[str, object]:
    return {
        "documents": len(reading.records),
        "counts": dict(reading.counts),
        "unknown_fields": dict(reading.unknown),
        "left_out": reading.skipped,
    }


def _lines(reading: Reading) -> list[str]:
    lines = [f"  {name}: {number}" for name, number in sorted(reading.counts.items())]
    lines += [f"  unknown field {name}, {times} times" for name, times in sorted(reading.unknown.items())]
    lines += [f"  {sentence}" for sentence in reading.skipped[:_MOST_SHOWN]]
    if len(reading.skipped) > _MOST_SHOWN:
        lines.append(f"  … and {len(reading.skipped) - _MOST_SHOWN} more (all of them with --json)")
    return lines


def _bytes_of(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as failed:
        raise InvalidRequest(f"{file} cannot be read: {failed}") from None


def _post(chosen: Namespace, path: str, body: bytes, headers: Mapping[str, str]) -> Posted:
    return call(chosen, "POST", path, body, headers)
