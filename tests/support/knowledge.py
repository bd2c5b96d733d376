"""The knowledge base over HTTP, on a garden whose refreshes wait unless they are grown."""

from __future__ import annotations

from typing import Any

from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Answer, Caller
from tests.support.database import Database
from tests.support.refreshing import page, ready
from tests.support.served_models import BANK, Served
from tests.support.units import Unit

BASE = f"{BANK}/knowledge-base"


class Shelf(Served):
    """The routes of the knowledge base."""

    def __init__(self, database: Database, store: PostgresStore, tenant: TenantId) -> None:
        super().__init__(database, store, tenant)
        self.garden.rig.workflows.runs = False

    def folder(self, name: str, parent_id: str | None = None, caller: Caller | None = None) -> str:
        """Makes a folder; its id."""
        made = (caller or self.call)("POST", f"{BASE}/folders", {"name": name, "parent_id": parent_id})
        assert made.status == 201, made.body
        return str(made.json()["id"])

    def page(self, name: str, parent_id: str | None = None, caller: Caller | None = None, **said: Any) -> str:
        """Makes a page; its id."""
        made = self.try_page(name, parent_id, caller, **said)
        assert made.status == 201, made.body
        return str(made.json()["page_id"])

    def try_page(self, name: str, parent_id: str | None = None, caller: Caller | None = None, **said: Any) -> Answer:
        """Asks for a page."""
        body = {"name": name, "source_query": f"What of {name}?", "parent_id": parent_id, **said}
        return (caller or self.call)("POST", f"{BASE}/pages", body)

    def written_page(self, name: str = "Garden", *blocks: str, **said: Any) -> str:
        """Makes a page that has a text; its id."""
        rig = self.garden.rig
        rig.remember(Unit(f"Of {name}.", "observation", tags=tuple(said.get("tags", ()))))
        rig.workflows.runs = True
        self.garden.say(ready(), page(*(blocks or ("Roses grow here.",)), heading=name, cites=("o1",)))
        made = self.page(name, **said)
        rig.workflows.runs = False
        return made

    def tree(self, caller: Caller | None = None, query: str = "") -> dict[str, Any]:
        """The tree as names: of folders what is in them, of pages None."""
        answer = (caller or self.call)("GET", f"{BASE}/tree{query}")
        assert answer.status == 200, answer.body
        return _named(answer.json()["roots"])

    def search(self, question: str, caller: Caller | None = None, query: str = "") -> list[Any]:
        """What a search finds."""
        answer = (caller or self.call)("GET", f"{BASE}/search?q={question}{query}")
        assert answer.status == 200, answer.body
        results: list[Any] = answer.json()["results"]
        return results

    def change(self, node_id: str, caller: Caller | None = None, **said: Any) -> Answer:
        """Changes a node."""
        return (caller or self.call)("PATCH", f"{BASE}/nodes/{node_id}", said)

    def delete(self, node_id: str, caller: Caller | None = None) -> Answer:
        """Deletes a node."""
        return (caller or self.call)("DELETE", f"{BASE}/nodes/{node_id}")


def _named(nodes: list[Any]) -> dict[str, Any]:
    return {node["name"]: _named(node["children"]) if node["kind"] == "folder" else None for node in nodes}
