"""Receipts over the API, signed by the local stack's key and verified by the command line with its public half."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from hindsight_aws.aws.signing import KmsSigner
from hindsight_aws.cli import main
from hindsight_aws.errors import SignerUnavailable
from hindsight_aws.settings import Settings
from infra.local.kms import KEY_ID, KmsEndpoint, ReceiptKey
from tests.support.api import Caller, FakeRuntime
from tests.support.sweeping import sweep_once

BANK = "/v1/default/banks/b"


@pytest.fixture
def key(tmp_path: Path) -> ReceiptKey:
    return ReceiptKey(tmp_path / "kms")


@pytest.fixture
def signer(key: ReceiptKey, monkeypatch: pytest.MonkeyPatch) -> Iterator[KmsSigner]:
    """The product's own adapter, on the local stack's endpoint."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    endpoint = KmsEndpoint(key)
    monkeypatch.setenv("AWS_ENDPOINT_URL_KMS", asyncio.run_coroutine_threadsafe(endpoint.start(), loop).result(60))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "local")
    yield KmsSigner(Settings(hindsight_receipt_key=KEY_ID))
    asyncio.run_coroutine_threadsafe(_ended(endpoint), loop).result(60)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(60)
    loop.close()


async def _ended(endpoint: KmsEndpoint) -> None:
    """Hangs up, and lets what was hung up on be closed."""
    endpoint.stop()
    for _ in range(3):
        await asyncio.sleep(0)


def test_a_deleted_bank_names_its_receipt_which_the_sweep_signs(
    services: FakeRuntime,
    call: Caller,
    signer: KmsSigner,
    key: ReceiptKey,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call("PUT", BANK, {"name": "n"}).status == 200
    deleted = call("DELETE", BANK)
    receipt = f"/v1/default/erasures/{deleted.headers['x-hindsight-erasure']}"
    before = call("GET", receipt).json()

    settings = services.settings.model_copy(update={"hindsight_receipt_key": KEY_ID})
    ports = replace(services.erasure_ports, signer=signer)
    sweep_once(services.store, services.noted, settings, erasures=ports)
    signed = call("GET", receipt).json()
    file = tmp_path / "receipt.json"
    file.write_text(json.dumps(signed, indent=2))
    told = main(["erasure", "verify", str(file), "--public-key", str(key.public_file)])
    file.write_text(json.dumps(signed | {"statement": signed["statement"] | {"by": "somebody else"}}))
    forged = main(["erasure", "verify", str(file), "--public-key", str(key.public_file)])

    assert set(deleted.json()) == {"success", "message", "deleted_count"}
    assert (before["state"], before["signature"]) == ("unsigned", None)
    assert signed["state"] == "signed"
    assert signed["statement"] == before["statement"]
    assert (told, forged) == (0, 1)
    assert "digest" in capsys.readouterr().out
    assert call("GET", "/v1/default/erasures").json()["items"][0] == signed
    document = call("GET", "/openapi.json").json()
    shape = {"$ref": "#/components/schemas/ErasureResponse", "components": document["components"]}
    assert [*Draft202012Validator(shape).iter_errors(signed)] == []


def test_what_carries_a_tag_is_erased_over_the_api(call: Caller) -> None:
    call("PUT", BANK, {"name": "n"})
    call("POST", f"{BANK}/directives", {"name": "n", "content": "c", "tags": ["user:a"]})

    erased = call("POST", f"{BANK}/erasures", {"tags": ["user:a"]})
    bodies: list[dict[str, object]] = [{"tags": []}, {"tags": ["a"], "match": "x"}]
    wrong = [call("POST", f"{BANK}/erasures", body).status for body in bodies]

    assert erased.status == 200
    assert erased.json()["statement"]["what"] == {"kind": "tags", "tags": ["user:a"], "match": "any"}
    assert erased.json()["statement"]["erased"] == {"directives": 1}
    assert wrong == [422, 422]
    assert call("GET", f"{BANK}/directives").json()["items"] == []


def test_the_public_half_of_the_key_is_printed_for_whoever_verifies(
    signer: KmsSigner, key: ReceiptKey, capsys: pytest.CaptureFixture[str]
) -> None:
    signer.sign(b"0" * 32)

    code = main(["erasure", "public-key", "--key", KEY_ID])

    assert code == 0
    assert capsys.readouterr().out == key.public_file.read_text()


def test_a_key_that_is_away_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_KMS", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "local")

    with pytest.raises(SignerUnavailable):
        KmsSigner(Settings(hindsight_receipt_key=KEY_ID)).sign(b"0" * 32)


def test_the_local_key_stays_the_same_and_signs_digests_alone(key: ReceiptKey, tmp_path: Path) -> None:
    first = key.public()

    again = ReceiptKey(tmp_path / "kms")

    assert again.public() == first
    with pytest.raises(ValueError, match="digest"):
        again.sign(b"too short")
