"""Every tool of MCP, with ids of another tenant, banks the key does not cover, and keys that may do or see less."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from hindsight_aws.api.mcp.catalogue import TOOLS
from hindsight_aws.api.mcp.tool import Effect
from hindsight_aws.model.principal import Permission
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Caller, make_caller, make_key, make_services
from tests.support.database import Database, make_tenant
from tests.support.mcp import ask, use_tool
from tests.support.seed import Seeded, fingerprint, seed_bank
from tests.support.tools import tool_arguments

READING = [name for name, tool in TOOLS.items() if tool.effect is Effect.READS]
CHANGING = [name for name in TOOLS if name not in READING]
ABOUT_THINGS = [
    name for name, tool in TOOLS.items() if set(tool.required) - {"bank_id"} and "_id" in str(tool.required)
]


_MADE = re.compile(r"(?:mm|k[fp])-[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.+]+")


@dataclass(frozen=True, slots=True)
class Scene:
    """A victim with one of everything, and an attacker of another tenant with a bank of their own."""

    database: Database
    owner_store: PostgresStore
    victim: Seeded
    own: Seeded
    attacker: Caller

    def limited(self, **limits: object) -> Caller:
        """The attacker with a key that may do less."""
        return Caller(self.attacker.handler, make_key(self.owner_store, self.own.tenant, **limits))


@pytest.fixture(scope="module")
def scene(module_database: Database, module_store: PostgresStore, owner_store: PostgresStore) -> Scene:
    handler = make_caller(make_services(module_store, None, hindsight_reflect_url_wait_seconds=0.01)).handler
    victim = seed_bank(module_database, make_tenant(module_database, "victim"), "bank-of-victim", "Xanthippe")
    attacker = make_tenant(module_database, "attacker")
    own = seed_bank(module_database, attacker, "bank-of-attacker", "Yorick")
    caller = Caller(handler, make_key(owner_store, attacker))
    return Scene(module_database, owner_store, victim, own, caller)


def test_tools_answer_another_tenants_bank_as_one_that_is_not_there(scene: Scene) -> None:
    before = fingerprint(scene.database, scene.victim.tenant)

    answers = {}
    for name in TOOLS:
        # A tenant that has nothing: some tools make a bank where there is none.
        stranger = Caller(scene.attacker.handler, make_key(scene.owner_store, make_tenant(scene.database, name)))
        foreign = _told(stranger, name, scene.victim, scene.victim.bank)
        answers[name] = foreign, _told(stranger, name, None, "bank-of-nobody")

    assert _differing(answers) == {}
    assert "Xanthippe" not in str(answers)
    assert fingerprint(scene.database, scene.victim.tenant) == before


def test_tools_answer_another_tenants_things_as_things_that_are_not_there(scene: Scene) -> None:
    before = fingerprint(scene.database, scene.victim.tenant)

    answers = {
        name: (
            _told(scene.attacker, name, scene.victim, scene.own.bank),
            _told(scene.attacker, name, None, scene.own.bank),
        )
        for name in ABOUT_THINGS
    }

    assert _differing(answers) == {}
    assert fingerprint(scene.database, scene.victim.tenant) == before


def test_tools_answer_a_bank_the_key_does_not_cover_as_one_that_is_not_there(scene: Scene) -> None:
    limited = scene.limited(bank_patterns=("other-*",))
    before = fingerprint(scene.database, scene.own.tenant)

    answers = {
        name: (_told(limited, name, scene.own, scene.own.bank), _told(limited, name, None, "bank-of-nobody"))
        for name in TOOLS
    }

    assert _differing(answers) == {}
    assert "Yorick" not in str(answers)
    assert fingerprint(scene.database, scene.own.tenant) == before


def test_a_key_that_may_only_read_changes_nothing_by_any_tool(scene: Scene) -> None:
    reader = scene.limited(permissions=frozenset({Permission.READ}))
    before = fingerprint(scene.database, scene.own.tenant)

    answers = {
        name: use_tool(reader, name, "/mcp", **tool_arguments(name, scene.own, scene.own.bank)) for name in CHANGING
    }

    allowed = {
        name: said
        for name, (said, is_error) in answers.items()
        if not is_error or not re.search("does not have the (write|admin) permission", str(said))
    }
    assert allowed == {}
    assert fingerprint(scene.database, scene.own.tenant) == before


def test_a_key_that_may_only_write_reads_nothing_by_any_tool(scene: Scene) -> None:
    writer = scene.limited(permissions=frozenset({Permission.WRITE}))

    answers = {
        name: use_tool(writer, name, "/mcp", **tool_arguments(name, scene.own, scene.own.bank)) for name in READING
    }

    told = {name: said for name, (said, _) in answers.items() if "read permission" not in str(said)}
    assert told == {}


def test_a_key_of_one_scope_meets_nothing_beneath_it_by_any_tool(scene: Scene) -> None:
    limited = scene.limited(exact_scopes=(("user:a",),))

    for name in READING:
        said, _ = use_tool(limited, name, "/mcp", **tool_arguments(name, scene.own, scene.own.bank))

        assert "keeps bees" not in str(said), name
        assert "context Yorick" not in str(said), name


def test_a_setting_of_a_bank_out_of_sight_is_not_told_by_the_list_of_tools(scene: Scene) -> None:
    owner = scene.attacker
    use_tool(owner, "create_bank", "/mcp", bank_id="quiet")
    use_tool(owner, "update_bank", "/mcp/quiet", config_updates={"mcp_enabled_tools": ["recall"]})
    limited = scene.limited(bank_patterns=("other-*",))

    counts = [len(ask(caller, "tools/list", path="/mcp/quiet")["result"]["tools"]) for caller in (owner, limited)]

    assert counts == [1, 36]


def _differing(answers: Mapping[str, tuple[object, object]]) -> dict[str, tuple[object, object]]:
    return {name: pair for name, pair in answers.items() if pair[0] != pair[1]}


def _told(caller: Caller, name: str, seeded: Seeded | None, bank: str) -> tuple[str, bool]:
    """What the tool says, without the ids that were sent or made, and the times."""
    arguments = tool_arguments(name, seeded, bank)
    said, is_error = use_tool(caller, name, "/mcp", **arguments)
    text = str(said)
    for argument, value in arguments.items():
        if argument.endswith("_id"):
            text = text.replace(str(value), f"<{argument}>")
    return _MADE.sub("<made>", text), is_error
