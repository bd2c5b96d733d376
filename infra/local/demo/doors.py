"""The ways in: the official client, plain HTTP for what it has no call for, the command line for keys, the ledger.

Called by the acts; calls nothing of the product's own code.
"""

import json
import os
import subprocess
import sys
import urllib.request
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import psycopg
from hindsight_client import Hindsight

from infra.local.demo.expectations import expect
from infra.local.demo.story import BANK, COMPANY
from infra.local.options import REPOSITORY

_SPENT: Final = """
    SELECT task, model_id, sum(calls), sum(input_tokens), sum(output_tokens), sum(usd)
    FROM hindsight.usage_ledger WHERE tenant_id = %s GROUP BY task, model_id ORDER BY sum(usd) DESC NULLS LAST, task
"""


class Door:
    """One caller of the API: as the dev tenant, or with a key."""

    def __init__(self, base_url: str, key: str | None = None) -> None:
        self.base_url: Final = base_url
        self.client: Final = Hindsight(base_url=base_url, api_key=key)
        self._headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})

    def get(self, path: str) -> Any:
        """The JSON found under the bank's own address."""
        return self._send("GET", path, None)

    def post(self, path: str, body: dict[str, object]) -> Any:
        """The JSON answered to a body sent to the bank's own address."""
        return self._send("POST", path, json.dumps(body).encode())

    def scopes(self) -> list[dict[str, Any]]:
        """Every observation scope with its counts and its strategy."""
        return list(self.get("/observations/scopes?include_pending=true")["scopes"])

    def observations(self, tag: str | None = None) -> list[dict[str, Any]]:
        """The observations in sight, of the scope with just this tag or of all, oldest evidence first, in detail."""
        listed = self.client.list_memories(BANK, type="observation")
        ids = [memory.id for memory in listed.items if tag is None or memory.tags == [tag]]
        return [self.get(f"/memories/{identity}") for identity in reversed(ids)]

    def close(self) -> None:
        """Lets the connections go."""
        self.client.close()  # type: ignore[no-untyped-call]  # the client's own

    def _send(self, method: str, path: str, body: bytes | None) -> Any:
        address = f"{self.base_url}/v1/default/banks/{BANK}{path}"
        request = urllib.request.Request(address, body, self._headers, method=method)  # noqa: S310 - our own loopback
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - our own loopback
            return json.load(answer)


def company_key(tenant: UUID, database_url: str) -> str:
    """A new key, made on the command line, that reads observations of exactly the company's scope."""
    arguments = ["key", "create", str(tenant), "--name", "company-portal", "--permissions", "read"]
    arguments += ["--fact-types", "observation", "--exact-scope", COMPANY, "--database-url", database_url]
    command = [sys.executable, "-m", "hindsight_aws.cli", *arguments]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "shared")}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    token = next((line.split()[1] for line in done.stdout.splitlines() if line.startswith("token")), "")
    expect(token, f"The command line made no key: {done.stderr.strip()}")
    return token


@dataclass(frozen=True, slots=True)
class Spent:
    """What one task cost with one model; `usd` is None for a model without a known price."""

    task: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    usd: float | None


def ledger(tenant: UUID, database_url: str) -> list[Spent]:
    """The usage ledger by task and model, dearest first."""
    with psycopg.connect(database_url) as connection:
        rows = connection.execute(_SPENT, (tenant,)).fetchall()
    return [Spent(r[0], r[1], int(r[2]), int(r[3]), int(r[4]), None if r[5] is None else float(r[5])) for r in rows]
