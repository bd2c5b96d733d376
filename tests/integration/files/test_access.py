"""Files obey what a key may do: its permissions, banks, tags, and whose uploads it sees."""

from __future__ import annotations

from uuid import UUID

import pytest

from hindsight_aws.errors import AccessDenied, NotFound
from hindsight_aws.files import (
    FileOptions,
    FilesPorts,
    FilesRequest,
    NewUpload,
    SentFile,
    announce_upload,
    retain_files,
)
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.model.tags import TagLeaf, TagsMatch
from tests.integration.files.conftest import BANK, Desk
from tests.support.database import make_tenant

_FILE = SentFile("note.txt", "text/plain", b"Words.")
_ALICES = TagLeaf(frozenset({"user:alice"}), TagsMatch.ALL_STRICT)


@pytest.fixture
def ports(desk: Desk) -> FilesPorts:
    return desk.services.files_ports


def sending(tags: tuple[str, ...] = (), document_id: str | None = None) -> FilesRequest:
    return FilesRequest((_FILE,), (), (FileOptions(document_id=document_id, tags=tags),))


def taking(*uploads: UUID) -> FilesRequest:
    return FilesRequest((), uploads, (FileOptions(tags=("user:alice",)),) * len(uploads))


def test_a_limited_key_sends_files_with_its_own_tags_only(desk: Desk, ports: FilesPorts) -> None:
    alice = Principal(desk.tenant, "alice", forced_tags=_ALICES)

    with pytest.raises(AccessDenied):
        retain_files(ports, alice, BANK, sending())

    assert desk.files.objects == {}
    assert len(retain_files(ports, alice, BANK, sending(("user:alice",)))) == 1


def test_a_limited_key_cannot_replace_a_document_it_cannot_see(desk: Desk, ports: FilesPorts) -> None:
    retain_files(ports, Principal(desk.tenant, "bob"), BANK, sending(("user:bob",), "d"))
    desk.deliver_all()
    alice = Principal(desk.tenant, "alice", forced_tags=_ALICES)

    with pytest.raises(AccessDenied):
        retain_files(ports, alice, BANK, sending(("user:alice",), "d"))


@pytest.mark.parametrize(
    ("limits", "error"),
    [
        pytest.param({"permissions": frozenset({Permission.READ})}, AccessDenied, id="a key that only reads"),
        pytest.param({"bank_patterns": ("other-*",)}, NotFound, id="a key of other banks"),
    ],
)
def test_a_key_that_may_not_write_the_bank_brings_nothing_in(
    desk: Desk, ports: FilesPorts, limits: dict[str, object], error: type[Exception]
) -> None:
    limited = Principal(desk.tenant, "eve", **limits)  # type: ignore[arg-type]  # a test names any limit

    with pytest.raises(error):
        retain_files(ports, limited, BANK, sending())
    with pytest.raises(error):
        announce_upload(ports, limited, BANK, NewUpload("a.txt", "text/plain", 5))

    assert desk.files.objects == {}
    assert desk.rows("SELECT 1 FROM operations UNION ALL SELECT 1 FROM uploads") == []


def test_an_upload_of_another_tenant_is_not_found_and_not_touched(desk: Desk, ports: FilesPorts) -> None:
    theirs = UUID(desk.uploaded("secret.txt", b"Words."))
    stranger = Principal(make_tenant(desk.database, "stranger"), "eve")
    with desk.services.store.transaction(stranger.tenant_id) as tx:
        tx.banks.create_if_missing(BANK)

    with pytest.raises(NotFound, match=f"Upload '{theirs}' not found"):
        retain_files(ports, stranger, BANK, taking(theirs))

    assert len(desk.files.objects) == 1
    assert desk.rows("SELECT operation_id FROM uploads") == [{"operation_id": None}]


def test_a_limited_key_takes_its_own_uploads_only(desk: Desk, ports: FilesPorts) -> None:
    alice = Principal(desk.tenant, "alice", forced_tags=_ALICES)
    own = announce_upload(ports, alice, BANK, NewUpload("own.txt", "text/plain", 6)).upload_id
    for row in desk.rows("SELECT object_key FROM uploads"):
        desk.files.objects[row["object_key"]] = b"Words."
    other = UUID(desk.uploaded("other.txt", b"Words."))

    with pytest.raises(NotFound):
        retain_files(ports, alice, BANK, taking(other))

    assert len(retain_files(ports, alice, BANK, taking(own))) == 1


def test_what_screening_finds_is_in_no_row_whether_said_of_a_file_or_in_it(desk: Desk, ports: FilesPorts) -> None:
    secret = "AK" + "IA" + "QWERTYUIOPASDFGH"
    told = FileOptions(document_id="d", context=f"the key is {secret}")
    file = SentFile("note.txt", "text/plain", f"Alice's key is {secret}.".encode())

    retain_files(ports, Principal(desk.tenant, "bob"), BANK, FilesRequest((file,), (), (told,)))
    early = desk.rows("SELECT payload::text FROM operations")
    desk.deliver_all()

    assert secret not in str(early)
    assert secret not in str(desk.rows("SELECT payload::text, result::text FROM operations"))
    assert secret not in str(desk.rows("SELECT text, context FROM memory_units"))
    assert secret not in str(desk.documents())
    assert "Alice" in desk.documents()["d"]
