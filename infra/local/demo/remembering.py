"""Acts 1 to 3: the notes go in, facts come out, and each audience's beliefs are drawn from them."""

import time
from typing import Any, Final

from infra.local.demo.doors import Door
from infra.local.demo.expectations import expect
from infra.local.demo.screen import heading, item, say
from infra.local.demo.story import BANK, BRIEFS, COMPANY, NAMED, NOTES, STRATEGIES, TEAM, TREND

_DRAINED_WITHIN: Final = 30.0
_LOOK_EVERY: Final = 0.05


def retain_notes(door: Door) -> None:
    """Makes the bank with its two briefs and retains the notes."""
    heading(1, "Three people talk; each note is for its speaker, for the team and for the company")
    door.client.create_bank(BANK, name="Tidewell Cargo Bikes")
    door.client.update_bank_config(BANK, consolidation_strategies=STRATEGIES)
    for note in NOTES:
        item(note.person, note.text)
    say("")
    for pattern, brief in BRIEFS.items():
        item(pattern, brief)
    item("user:*", "(no brief of its own: everything that lasts)")
    kept = door.client.retain_batch(BANK, [note.item for note in NOTES])
    expect(kept.success and kept.items_count == len(NOTES), "Retain did not accept every note.")


def show_facts(door: Door) -> None:
    """Lists what was extracted."""
    facts = door.client.list_memories(BANK, type="world").items
    heading(2, f"{len(facts)} facts, and the beliefs drawn from them while you watch")
    for fact in reversed(facts):
        item((fact.mentioned_at or "")[:10], fact.text or "")
    expect(len(facts) >= 2 * len(NOTES), "Fewer facts were kept than were told.")


def watch_drain(door: Door) -> None:
    """Prints each scope's pending facts and beliefs whenever they change, until nothing is pending."""
    begun = time.monotonic()
    shown: list[str] = []
    while True:
        scopes = sorted(door.scopes(), key=lambda scope: (scope["tags"][0].split(":")[0] != "user", scope["tags"]))
        states = [f"{scope['pending_count']:>2} → {scope['count']}" for scope in scopes]
        if not shown:
            say(_columns("pending → beliefs", [",".join(scope["tags"]) for scope in scopes]))
        if states != shown:
            say(_columns(f"{time.monotonic() - begun:.1f} s", states))
        shown = states
        if scopes and not any(scope["pending_count"] for scope in scopes):
            break
        expect(time.monotonic() - begun < _DRAINED_WITHIN, "Consolidation did not come to an end.")
        time.sleep(_LOOK_EVERY)
    expect(not any(scope["failed_count"] for scope in scopes), "Consolidation failed for some facts.")


def _columns(first: str, cells: list[str]) -> str:
    return f"{first:>17}  " + "".join(f"{cell:<17}" for cell in cells).rstrip()


def show_beliefs(door: Door) -> None:
    """Each scope's observations with quotes, proof counts and who wrote them."""
    heading(3, "The same facts, three audiences: what each now believes, on what evidence, by whose hand")
    beliefs = {scope["tags"][0]: door.observations(scope["tags"][0]) for scope in door.scopes()}
    for tag, observations in sorted(beliefs.items(), key=lambda pair: (pair[0] == COMPANY, pair[0] == TEAM, pair[0])):
        print(f"\n  {tag}")
        for observation in observations:
            show_belief(observation)
    company = " ".join(observation["text"] for observation in beliefs.get(COMPANY, []))
    expect(TREND in company, "The company's scope does not hold the trend.")
    expect(not any(name in company for name in NAMED), "The company's scope tells a name or an amount.")
    expect(len(beliefs.get(TEAM, [])) == 2, "The team's scope does not hold just the two decisions.")
    rests = [piece for found in beliefs.values() for observation in found for piece in observation["evidence"]]
    expect(rests and all(piece["quote"] for piece in rests), "A belief stands without a quote.")
    quoted = door.get("/stats")["evidence_by_origin"]["model"]
    say("")
    share = 100 * quoted // len(rests)
    say(f"Of {len(rests)} pieces of evidence the model quoted {quoted} itself ({share} %). Where it gives no quote, or")
    say("one that the fact does not hold, the whole fact is the evidence.")


def show_belief(observation: dict[str, Any]) -> None:
    """One observation, its provenance and its quotes."""
    item("•", observation["text"], width=1, indent=2)
    by = observation["last_by"]
    proofs = observation["proof_count"]
    counted = f"{proofs} proof{'s' if proofs != 1 else ''}"
    say(f"{counted} · {by['strategy_name']} · {by['prompt']} · {by['model_id']}", indent=3)
    for piece in observation["evidence"]:
        item(f"{piece['origin']}:", f"“{piece['quote']}”", width=6, indent=3)
