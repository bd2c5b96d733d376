"""What is remembered: observations, facts, entities, tags, dates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from tests.cases.checking.counts import entity_names, listed_observations
from tests.cases.checking.outcome import Outcome, includes, named


@named("observations")
def _observations_like(outcome: Outcome, wanted: Sequence[Mapping[str, Any]]) -> None:
    found = listed_observations(outcome)
    assert len(found) == len(wanted), f"there are {[item['text'] for item in found]}"
    for place, (item, like) in enumerate(zip(found, wanted, strict=True)):
        shown = {**item, "sources": sorted(item["source_memory_ids"])}
        includes(shown, {**like, **({"sources": sorted(like["sources"])} if "sources" in like else {})})
        assert place < len(found)


@named("observations_texts")
def _observations_texts(outcome: Outcome, wanted: Sequence[str]) -> None:
    texts = [item["text"] for item in listed_observations(outcome)]
    assert sorted(texts) == sorted(wanted), f"they are {texts}"


@named("observation_sources_include")
def _observation_sources_include(outcome: Outcome, wanted: Sequence[str]) -> None:
    sources = {source for item in listed_observations(outcome) for source in item["source_memory_ids"]}
    assert sources >= set(wanted), f"{sources} does not include {wanted}"


@named("no_source")
def _no_source(outcome: Outcome, wanted: Sequence[str]) -> None:
    assert not any(identity.startswith("$") for identity in wanted), "the fact was never stored"
    shown = {result["id"] for result in outcome.found()}
    sources = {source for item in listed_observations(outcome) for source in item["source_memory_ids"]}
    assert not set(wanted) & (sources | shown), f"{wanted} is still a source or a result"


@named("observation_scopes")
def _observation_scopes(outcome: Outcome, wanted: Sequence[Mapping[str, Any]]) -> None:
    found = outcome.world.get(outcome.writes, "/observations/scopes")["scopes"]
    assert len(found) == len(wanted), f"there are {found}"
    for scope, like in zip(found, wanted, strict=True):
        includes(scope, like)


@named("occurred")
def _occurred(outcome: Outcome, wanted: Sequence[str]) -> None:
    spans = [[str(item[f"occurred_{end}"])[:10] for end in ("start", "end")] for item in listed_observations(outcome)]
    assert list(wanted) in spans, f"they are {spans}"


@named("facts_texts")
def _facts_texts(outcome: Outcome, wanted: Sequence[str]) -> None:
    texts = [item["text"] for item in outcome.world.memories(outcome.writes)]
    assert texts == list(wanted), f"they are {texts}"


@named("entities")
def _entities_named(outcome: Outcome, wanted: Sequence[str]) -> None:
    assert sorted(entity_names(outcome)) == sorted(wanted), f"they are {entity_names(outcome)}"


@named("tags")
def _tags(outcome: Outcome, wanted: Sequence[str]) -> None:
    tags = sorted({tag for item in outcome.world.memories(outcome.bank) for tag in item["tags"]})
    assert tags == sorted(wanted), f"they are {tags}"


@named("metadata")
def _metadata(outcome: Outcome, wanted: Mapping[str, str]) -> None:
    found = [item["metadata"] for item in outcome.world.memories(outcome.writes)]
    assert found, "there are no facts"
    assert all(metadata == wanted for metadata in found), f"it is {found}"


@named("mentioned_at")
def _mentioned_at(outcome: Outcome, wanted: str) -> None:
    found = [item["mentioned_at"] for item in outcome.world.memories(outcome.writes)]
    assert found, "there are no facts"
    assert all(_moment(at) == _moment(wanted) for at in found), f"it is {found}"


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
