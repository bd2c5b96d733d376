"""Act 4: a fact contradicts a belief, which then tells both states and keeps its history."""

from infra.local.demo.doors import Door
from infra.local.demo.expectations import expect
from infra.local.demo.remembering import show_belief, watch_drain
from infra.local.demo.screen import heading, item, say
from infra.local.demo.story import BANK, CHANGE, REVERSAL, TEAM


def contradict(door: Door) -> None:
    """Retains the contradiction and shows the observation that changed, before and after."""
    heading(4, "A month later a fact contradicts one of them")
    item(CHANGE.person, CHANGE.text)
    before = {belief["id"]: belief["text"] for belief in door.observations(TEAM)}
    note = CHANGE.item
    door.client.retain(
        BANK,
        f"{CHANGE.person}: {CHANGE.text}",
        timestamp=CHANGE.said_at,
        document_id=str(note["document_id"]),
        tags=CHANGE.tags,
        observation_scopes=CHANGE.scopes,
    )
    watch_drain(door)
    changed = [
        belief for belief in door.observations(TEAM) if before.get(belief["id"], belief["text"]) != belief["text"]
    ]
    expect(len(changed) == 1, "The contradiction did not change exactly one belief of the team.")
    belief = changed[0]
    say("")
    print(f"  {TEAM}")
    show_belief(belief)
    expect(before[belief["id"]].rstrip(".") in belief["text"], "The changed belief forgot its former state.")
    expect(REVERSAL.rstrip(".") in belief["text"], "The changed belief does not tell the new state.")
    expect(belief["proof_count"] == 2, "The changed belief does not rest on both facts.")
    history = door.get(f"/memories/{belief['id']}/history")
    say("")
    for step in history:
        item(step["changed_at"][:19], f"{step['kind']}: before it said “{step['previous_text']}”", width=19, indent=3)
    expect([step["previous_text"] for step in history] == [before[belief["id"]]], "Its history lacks the former text.")
