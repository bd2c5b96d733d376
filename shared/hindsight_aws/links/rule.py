"""Which facts are linked, as the settings say.  Called by retain and by link maintenance; pure."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from hindsight_aws.ports.links import LinkRule
from hindsight_aws.settings import Settings

MOST: Final = 20
"""Links of a kind that a fact chooses for itself."""
WITHIN: Final = timedelta(hours=24)
"""Events this far apart have nothing to do with each other; nearer ones weigh the more, the nearer they are."""


def link_rule(settings: Settings, facts_in_bank: int) -> LinkRule:
    """The rule for a bank of this many facts: a small one is compared whole, a large one through the vector index."""
    exact = facts_in_bank <= settings.hindsight_link_exact_limit
    return LinkRule(settings.hindsight_api_semantic_link_min_similarity, MOST, exact, WITHIN)
