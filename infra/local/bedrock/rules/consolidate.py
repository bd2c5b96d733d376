"""`consolidate` by rule: a fact joins the observation it is close to, tells of a change when it disagrees, or is new.

Called by the table in `rules`; calls `beliefs`, `missions`, `language`. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from infra.local.bedrock.rules.beliefs import closeness, relation
from infra.local.bedrock.rules.language import content_words, overlap, sentences
from infra.local.bedrock.rules.material import Material, text_of
from infra.local.bedrock.rules.missions import Mission, read_mission
from infra.local.bedrock.shapes import a_count, a_text, an_object

_LONG = 300  # characters; a longer fact is quoted by one of its sentences
_LONGEST_BELIEF = 600
_REASONS = {"adds": "a new fact adds to it", "disagrees": "a new fact tells of a change"}


@dataclass(slots=True)
class _Belief:
    """An observation while the facts of one call work on it; `id` is None for one that is being created.

    `text` is bare: without what the mission hides and without a trend's count.
    """

    id: str | None
    text: str
    said_at: str
    proofs: int
    sources: list[str] = field(default_factory=list)
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Fact:
    id: str
    text: str
    bare: str
    said_at: str


def consolidate(material: Material) -> JsonObject:
    """The input of `revise_observations`."""
    mission = read_mission(material.text("mission"))
    beliefs = [_shown(record, mission) for record in material.records("observations") if a_text(record.get("id"))]
    room = _room(material)
    facts = {fact.id: fact for fact in (_new(record, mission) for record in material.records("facts"))}
    skipped: list[JsonValue] = []
    for fact in facts.values():
        reason = _reason_to_skip(fact, mission)
        target = None if reason else _closest(fact, beliefs)
        if target is not None:
            _revise(target, fact)
        elif reason is None and (room is None or _created(beliefs) < room):
            beliefs.append(_Belief(None, fact.bare, fact.said_at, 1, [fact.id], "nothing known is close to it"))
        else:
            skipped.append({"fact_id": fact.id, "reason": reason or "there is no room for another observation"})
    if mission.wants_several:
        skipped += _lone(beliefs)
        beliefs = [belief for belief in beliefs if not _is_lone(belief)]
    merges, merged = _merges(beliefs)
    touched = [belief for belief in beliefs if belief.sources and belief.id not in merged]
    return {
        "creates": [_change(belief, facts, mission) for belief in touched if belief.id is None],
        "updates": [{"observation_id": b.id, **_change(b, facts, mission)} for b in touched if b.id is not None],
        "deletes": merges,
        "skipped": skipped,
    }


def _shown(record: JsonObject, mission: Mission) -> _Belief:
    said_at = _said_at(an_object(record.get("dates")))
    proofs = a_count(record.get("proof_count")) or 1
    return _Belief(a_text(record.get("id")), mission.bare(text_of(record)), said_at, proofs)


def _new(record: JsonObject, mission: Mission) -> _Fact:
    text = text_of(record)
    return _Fact(a_text(record.get("id")), text, mission.bare(text), _said_at(record))


def _said_at(record: JsonObject) -> str:
    return a_text(record.get("mentioned_at")) or a_text(record.get("occurred_start"))


def _room(material: Material) -> int | None:
    """How many observations may still be created; None without a bound."""
    for record in material.records("capacity"):
        limit, used = a_count(record.get("limit")), a_count(record.get("count")) or 0
        remaining = a_count(record.get("remaining"))
        if record.get("reached") is True:
            return 0
        if remaining is None and limit is not None:
            remaining = limit - used
        if remaining is not None:
            return max(remaining, 0)
    return None


def _reason_to_skip(fact: _Fact, mission: Mission) -> str | None:
    if not content_words(fact.text):
        return "it says nothing that lasts"
    return mission.reason_to_skip(fact.text)


def _closest(fact: _Fact, beliefs: list[_Belief]) -> _Belief | None:
    related = [belief for belief in beliefs if relation(fact.bare, belief.text) != "unrelated"]
    return max(related, key=lambda belief: closeness(fact.bare, belief.text), default=None)


def _created(beliefs: list[_Belief]) -> int:
    return sum(1 for belief in beliefs if belief.id is None)


def _is_lone(belief: _Belief) -> bool:
    return belief.id is None and belief.proofs == 1


def _lone(beliefs: list[_Belief]) -> list[JsonValue]:
    """The facts that would each be a belief by itself, as skips, for a mission that wants what several report."""
    reason = "one report alone, and the mission asks for what several say"
    return [{"fact_id": belief.sources[0], "reason": reason} for belief in beliefs if _is_lone(belief)]


def _revise(belief: _Belief, fact: _Fact) -> None:
    how = relation(fact.bare, belief.text)
    belief.sources.append(fact.id)
    belief.proofs += 1
    belief.reason = _REASONS.get(how, "a new fact says the same")
    said = _merged(belief, fact, how)
    if len(said) <= _LONGEST_BELIEF:
        belief.text = said
    belief.said_at = max(belief.said_at, fact.said_at)


def _merged(belief: _Belief, fact: _Fact, how: str) -> str:
    if how in {"same", "covered"}:
        return belief.text
    if how == "disagrees":
        is_older = bool(fact.said_at and belief.said_at and fact.said_at < belief.said_at)
        now, before = (belief.text, fact.bare) if is_older else (fact.bare, belief.text)
        since = "" if is_older or not fact.said_at else f" (since {fact.said_at[:10]})"
        return f"{now.rstrip('. ')}{since}. Before that: {before}"
    if content_words(belief.text) < content_words(fact.bare):
        return fact.bare
    return f"{belief.text.rstrip('. ')}. {fact.bare}"


def _merges(beliefs: list[_Belief]) -> tuple[list[JsonValue], set[str | None]]:
    """Deletes for shown observations that now say exactly what an earlier shown one says."""
    first: dict[str, str] = {}
    deletes: list[JsonValue] = []
    gone: set[str | None] = set()
    for belief in beliefs:
        if belief.id is None:
            continue
        kept = first.setdefault(" ".join(belief.text.casefold().split()), belief.id)
        if kept != belief.id and not belief.sources:
            deletes.append({"observation_id": belief.id, "merged_into": kept, "reason": "they say the same"})
            gone.add(belief.id)
    return deletes, gone


def _change(belief: _Belief, facts: dict[str, _Fact], mission: Mission) -> JsonObject:
    quotes: list[JsonValue] = [{"fact_id": i, "quote": _quote(facts[i].text, belief.text)} for i in belief.sources]
    sources: list[JsonValue] = [*belief.sources]
    text = mission.worded(belief.text, belief.proofs)
    return {"text": text, "source_fact_ids": sources, "quotes": quotes, "reason": belief.reason}


def _quote(fact: str, belief: str) -> str:
    """All of a short fact, or the sentence of a long one that is closest to the belief."""
    if len(fact) <= _LONG:
        return fact
    aim = content_words(belief)
    return max(sentences(fact), key=lambda s: overlap(content_words(s), aim), default=fact)
