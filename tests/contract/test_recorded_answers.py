"""Requests recorded from the original server, sent to ours in order: same status, same errors, no key missing."""

from __future__ import annotations

import re
from typing import Any
from uuid import uuid4

import pytest

from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import UNSET, Answer, Caller, FakeRuntime, make_caller, make_services
from tests.support.contract import answer_at_once
from tests.support.database import Database, make_tenant
from tests.support.differences import DIFFERENCES, UNKNOWN_DIFFERENCES
from tests.support.golden import (
    OMITTED,
    Probe,
    missing_keys,
    probes,
    probes_of_unknown_banks,
    route_of,
    schema_errors,
)

_BANK = "pr-d4e3ea47"
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NODE = re.compile(r"k[fp]-[0-9a-f]{32}")
_PLACEHOLDERS = re.compile(r"'[^']*'|\d+")

NOT_BUILT_YET: dict[int, str] = {
    127: "an observation, which this conversation cannot make without consolidation; see test_shapes.py",
    129: "an edit of that observation; see tests/integration/curation/test_edit.py",
}

FREE_MAPS = frozenset(
    {
        "actions",
        "nodes_by_fact_type",
        "links_by_link_type",
        "operations_by_status",
        "result_metadata",
        "retain_params",
        "entities",
        "chunks",
        "source_facts",
        "trace",
        "retrieved",
        "used",
    }
)
"""Maps with keys of their own; and the trace, which tells of the search as it is done here."""

OPTIONAL = ("/db_pool_waiting", "/db_pool_in_use", "/db_pool_max", "/db_pool_idle")


def _is_replayed(probe: Probe) -> bool:
    return route_of(probe.method, probe.path) is not None and probe.number not in NOT_BUILT_YET


def _with_ids(suffix: str) -> str:
    return suffix.replace("<uuid>", "40c18d20-c9e4-40c1-bf5c-3ee4e37a78fd")


def _anonymous(detail: str) -> str:
    return re.sub(r"iso-[0-9a-f]+", "<bank>", detail)


REPLAYED = [probe for probe in probes() if _is_replayed(probe)]


BODIES: dict[str, object] = {
    "POST /directives": {"name": "a", "content": "b"},
    "POST /prompts/preview": {},
    "POST /import": {"version": "1"},
    "POST /import?dry_run=true": {"version": "1"},
    "POST /aliases": {"alias": "another name"},
    "POST /mental-models": {"name": "a", "source_query": "b"},
    "PATCH /mental-models/x": {"name": "a"},
    "POST /knowledge-base/folders": {"name": "f"},
    "POST /knowledge-base/pages": {"name": "p", "source_query": "q"},
    "POST /webhooks": {"url": "https://example.com"},
    "PATCH /webhooks/<uuid>": {"enabled": False},
    "POST /memories": {"items": [{"content": "Zoe knits."}]},
    "POST /memories/recall": {"query": "x"},
    "POST /reflect": {"query": "x"},
    "POST /memories/dry-run-extract": {"content": "Zoe knits."},
    "PUT ": {},
    "PATCH ": {"name": "n"},
    "PATCH /documents/zz": {"tags": ["t2"]},
    "PATCH /memories/<uuid>": {"text": "z"},
    "PATCH /config": {"updates": {"retain_mission": "m"}},
    "POST /consolidation-strategies/preview": {"strategies": []},
}
UNKNOWN = [
    row
    for row in probes_of_unknown_banks()
    if route_of(row[0], f"/v1/default/banks/b{_with_ids(row[1])}") is not None
    and not (row[1] == "/memories" and row[3].get("items_count") == 0)
]


@pytest.fixture(scope="module")
def strangers(module_database: Database, module_store: PostgresStore) -> Caller:
    return make_caller(_services(module_store, module_database))


def _services(store: PostgresStore, database: Database) -> FakeRuntime:
    """Services on which is switched on what the original server had switched on."""
    services = make_services(
        store,
        make_tenant(database),
        hindsight_api_enable_bank_llm_health=True,
        bank_defaults=(("audit_log_enabled", "true"),),
    )
    answer_at_once(services)
    return services


@pytest.fixture(scope="module")
def answers(module_database: Database, module_store: PostgresStore) -> dict[int, Answer]:
    """Every answer, by the number of its recording; the whole conversation is held once."""
    caller = make_caller(_services(module_store, module_database))
    conversation = Conversation(caller)
    return {probe.number: conversation.say(probe) for probe in REPLAYED}


class Conversation:
    """Repeats the recorded requests; ids that the original server chose are replaced by ours."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._corrected: dict[str, str] = {}
        self._made: dict[str, str] = {}

    def say(self, probe: Probe) -> Answer:
        if isinstance(probe.body, str):
            return self._caller(probe.method, probe.path, raw=probe.body.encode())
        path = _UUID.sub(lambda found: self._made.get(found[0], found[0]), probe.path)
        if probe.method == "PATCH" and f"{_BANK}/memories/" in path:
            path = self._the_same(path)
        elif probe.status == 200 and probe.method == "GET":
            path = self._ours(path)
        path, body = _NODE.sub(self._ours_of, path), probe.body
        if isinstance(body, dict) and isinstance(body.get("parent_id"), str):
            body = {**body, "parent_id": _NODE.sub(self._ours_of, body["parent_id"])}
        answer = self._caller(probe.method, path, UNSET if body is None else body)
        if path.endswith(("/directives", "/webhooks")) and probe.method == "POST" and answer.status < 300:
            self._made[probe.answer["id"]] = answer.json()["id"]
        if path.endswith(("/folders", "/pages")) and answer.status == 201:
            name = "id" if path.endswith("/folders") else "page_id"
            self._made[probe.answer[name]] = answer.json()[name]
        return answer

    def _ours_of(self, found: re.Match[str]) -> str:
        return self._made.get(found[0], found[0])

    def _the_same(self, path: str) -> str:
        """The path of the memory that stands for the recorded one each time it is corrected."""
        recorded = path.rpartition("/")[2]
        if recorded not in self._corrected:
            self._corrected[recorded] = self._ours(path).rpartition("/")[2]
        return path.replace(recorded, self._corrected[recorded])

    def _ours(self, path: str) -> str:
        for listing, key in (("memories", "items"), ("entities", "items")):
            found = re.search(rf"/{listing}/({_UUID.pattern})", path)
            if found:
                page = self._caller(
                    "GET", f"/v1/default/banks/{_BANK}/{listing}{'/list' if listing == 'memories' else ''}"
                )
                return path.replace(found[1], str(page.json()[key][0]["id"]))
        return path


@pytest.mark.parametrize("probe", REPLAYED, ids=lambda probe: probe.name)
def test_a_recorded_request_is_answered_as_recorded(answers: dict[int, Answer], probe: Probe) -> None:
    answer = answers[probe.number]
    wanted, _ = DIFFERENCES.get(probe.number, (probe.status, ""))

    assert answer.status == wanted, answer.body[:500]
    if probe.number in DIFFERENCES:
        return
    ignored = [name for name in answer.headers.get("x-ignored-params", "").split(", ") if not name.startswith("items[")]
    assert ", ".join(ignored) == (probe.ignored or "")
    if not answer.headers["content-type"].startswith("application/json"):
        return
    if answer.status >= 400:
        assert _error(answer.json(), probe.answer) == _error(probe.answer, probe.answer)
    else:
        missing = [key for key in missing_keys(probe.answer, answer.json()) if not FREE_MAPS & set(key.split("/")[:-1])]
        assert [key for key in missing if key not in OPTIONAL] == []


@pytest.mark.parametrize(
    "probe",
    [probe for probe in REPLAYED if probe.status == 200 and "metrics" not in probe.path],
    ids=lambda probe: probe.name,
)
def test_an_answer_has_the_published_shape(answers: dict[int, Answer], probe: Probe) -> None:
    answer = answers[probe.number]
    route = route_of(probe.method, probe.path)
    if answer.status != 200 or route is None or probe.path == "/v1/version":
        return

    assert schema_errors(probe.method, route, 200, answer.json()) == []


@pytest.mark.parametrize("row", UNKNOWN, ids=lambda row: f"{row[0]}-{row[1]}")
def test_a_bank_that_is_not_there_is_answered_as_recorded(
    strangers: Caller, row: tuple[str, str, int, Any, bool]
) -> None:
    method, suffix, status, recorded, is_made = row
    bank = f"iso-{uuid4().hex[:10]}"

    answer = strangers(method, f"/v1/default/banks/{bank}{_with_ids(suffix)}", BODIES.get(f"{method} {suffix}", UNSET))
    made = strangers("GET", f"/v1/default/banks?q={bank}").json()["total"] == 1

    assert (answer.status, made) == UNKNOWN_DIFFERENCES.get(f"{method} {suffix}", (status, is_made))
    if answer.status >= 400 and f"{method} {suffix}" not in UNKNOWN_DIFFERENCES:
        assert _anonymous(answer.json()["detail"]) == _anonymous(recorded["detail"])


def _error(got: Any, recorded: Any) -> object:
    """An error as it is compared: where the recording left a sentence out, any sentence will do."""
    if isinstance(recorded["detail"], str):
        if recorded["detail"] == OMITTED:
            return type(got["detail"])
        return _PLACEHOLDERS.sub("_", got["detail"])
    return [_entry(ours, theirs) for ours, theirs in zip(got["detail"], recorded["detail"], strict=True)]


def _entry(got: Any, recorded: Any) -> object:
    entry = {key: got.get(key) for key in ("type", "loc", "msg", "input")}
    if recorded["msg"] == OMITTED:
        entry.pop("msg")
    return entry
