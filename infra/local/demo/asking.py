"""Acts 5 to 7: the company's key sees the trend and nothing beneath it; recall with scores; reflect with citations."""

from collections import Counter
from typing import Any, Final

from infra.local.demo.doors import Door
from infra.local.demo.expectations import expect
from infra.local.demo.screen import heading, item, say, shortened, table
from infra.local.demo.story import BANK, COMPANY, NAMED, PROBES, RECALL, REFLECT, TREND

_ROWS: Final = 6
_TEXT_WIDTH: Final = 58


def look_as_company(door: Door) -> None:
    """Asks with a key of the company's scope: for the trend, for everything, and for what lies beneath."""
    heading(5, f"A key for observations of exactly {{{COMPANY}}}: the trend, and nothing beneath it")
    seen: list[Any] = []
    for question in PROBES:
        answer = door.post("/memories/recall", {"query": question})
        seen += answer["results"]
        say(f"{question}  ({len(answer['results'])} found, {answer['withheld']} things beneath withheld)")
        for result in answer["results"]:
            item("•", f"{result['text']}  [{', '.join(result['tags'])}]", width=1, indent=2)
    expect(seen and all(result["tags"] == [COMPANY] for result in seen), "The key sees more than its scope.")
    detail = door.observations(COMPANY)[0]
    listed = door.client.list_memories(BANK)
    history = door.get(f"/memories/{detail['id']}/history")
    item(
        "detail",
        f"proofs {detail['proof_count']}, quotes shown {len(detail['evidence'])}, withheld {detail['withheld']}",
    )
    item(
        "list",
        f"{listed.total} memory in sight, facts shown {sum(m.fact_type != 'observation' for m in listed.items)}",
    )
    item("history", f"{len(history)} changes, texts shown {sum(bool(step['previous_text']) for step in history)}")
    told = f"{seen} {detail} {listed.items} {history}"
    expect(TREND in told, "The key does not see the trend.")
    expect(not any(name in told for name in NAMED), "The company's key sees a name or an amount.")
    expect(detail["withheld"] == detail["proof_count"] and not detail["evidence"], "What lies beneath is not withheld.")


def recall(door: Door) -> None:
    """A recall with what each result scored."""
    heading(6, f"Recall: {RECALL}")
    results = door.client.recall(BANK, RECALL, max_tokens=2048).results
    rows = []
    for result in results[:_ROWS]:
        scores = result.scores
        found = [scores.final, scores.semantic, scores.keyword] if scores else []
        numbers = [f"{value:.3f}" if value is not None else "–" for value in found]
        rows.append([*numbers, result.type or "", shortened(result.text, _TEXT_WIDTH)])
    table(["final", "meaning", "words", "type", "text"], rows, right=frozenset({0, 1, 2}))
    expect(
        results and all(TREND in result.text for result in results[:3]), "Recall did not find the battery swaps first."
    )


def reflect(door: Door) -> None:
    """An answer in words, with what it cites."""
    heading(7, f"Reflect: {REFLECT}")
    answer = door.client.reflect(BANK, REFLECT, include_facts=True)
    for line in answer.text.splitlines():
        say(line)
    cited = list((answer.based_on and answer.based_on.memories) or [])
    say("cites")
    for (text, kind), times in Counter((memory.text, memory.type) for memory in cited).items():
        item("•", f"{text}  [{kind}{f', in {times} scopes' if times > 1 else ''}]", width=1, indent=2)
    expect("decided not to buy" in answer.text, "Reflect does not know the present decision.")
    expect(cited and all(memory.id for memory in cited), "Reflect cites nothing.")
