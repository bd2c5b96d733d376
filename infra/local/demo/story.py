"""What the demo tells: three people of a company that leases cargo bikes, and the briefs for what is made of it."""

from dataclasses import dataclass
from typing import Final

BANK: Final = "tidewell"
TEAM: Final = "team:fleet"
COMPANY: Final = "company:tidewell"

BRIEFS: Final = {
    "team:*": "Keep decisions only.",
    "company:*": "Trends that come up more than once. Give no names and no amounts.",
}
STRATEGIES: Final[list[dict[str, object]]] = [
    {"scopes": [{"tags": [pattern]}], "observations_mission": brief} for pattern, brief in BRIEFS.items()
]


@dataclass(frozen=True, slots=True)
class Note:
    """What one person said at one time."""

    person: str
    said_at: str
    text: str

    @property
    def scopes(self) -> list[list[str]]:
        """The audiences it is for: the person, the team and the company, each by itself."""
        return [[f"user:{self.person.lower()}"], [TEAM], [COMPANY]]

    @property
    def tags(self) -> list[str]:
        """Every tag of those scopes."""
        return [tag for scope in self.scopes for tag in scope]

    @property
    def item(self) -> dict[str, object]:
        """The note as retain takes it."""
        return {
            "content": f"{self.person}: {self.text}",
            "timestamp": self.said_at,
            "context": "weekly round of the fleet team",
            "document_id": f"{self.said_at[:10]}-{self.person.lower()}",
            "tags": self.tags,
            "observation_scopes": self.scopes,
        }


NOTES: Final = (
    Note(
        "Nora",
        "2026-03-02T09:10:00Z",
        "Kestrel Bakery asked for weekly battery swaps instead of charging on site. "
        "Kestrel Bakery pays 1,900 euros a month for nine bikes. I call customers on Monday mornings.",
    ),
    Note(
        "Emil",
        "2026-03-04T15:40:00Z",
        "Harbour Pharmacy asked for weekly battery swaps instead of charging on site. "
        "The fleet team decided to buy a second swap station in June. I work from the Eastgate workshop.",
    ),
    Note(
        "Priya",
        "2026-03-05T11:05:00Z",
        "Almond Flowers asked for weekly battery swaps. "
        "The fleet team agreed to train two more mechanics, and I drew up the plan.",
    ),
)
REVERSAL: Final = "The fleet team decided not to buy a second swap station in June."
CHANGE: Final = Note("Emil", "2026-04-07T08:30:00Z", f"{REVERSAL} I told the dealer.")
NAMED: Final = ("Nora", "Emil", "Priya", "Kestrel", "Harbour", "Almond", "Eastgate", "1,900")
"""What must never reach the company: people, customers, places, amounts."""

TREND: Final = "weekly battery swaps"
RECALL: Final = "Who wants weekly battery swaps?"
REFLECT: Final = "What did the fleet team decide about a second swap station?"
PROBES: Final = (RECALL, "What does Kestrel Bakery pay a month?", "Where does Emil work?")
"""What the company's key asks: for the trend, and for what it must not learn."""
