"""Says how a bank's traits weigh on its answers: numbers, and a sentence for each unless all are in the middle.

Pure; called by model_call.py.  Nothing else reads a disposition: what is found does not depend on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hindsight_aws.configuration.config import BankConfig
from hindsight_aws.configuration.profile import NEUTRAL_TRAIT
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue

MEANINGS: Final[Mapping[str, tuple[str, str, str, str, str]]] = {
    "skepticism": (
        "Takes what was said at its word, without a second look.",
        "Trusts what was said unless something plainly speaks against it.",
        "Trusts what was said, and says where it hangs by one remark.",
        "Asks of each claim who said it and what else supports it, and says how sure it is.",
        "Doubts each claim that stands alone, names weak and conflicting evidence, and says no more than it bears.",
    ),
    "literalism": (
        "Reads for what was meant, through hints, irony and half sentences.",
        "Reads for what was meant where the words leave it open.",
        "Keeps to the words, and reads between them where the context is clear.",
        "Keeps close to the words and marks whatever it reads into them.",
        "Takes words exactly as they stand: numbers, names and conditions to the letter, nothing that is not there.",
    ),
    "empathy": (
        "Reports facts alone; how anybody feels about them plays no part.",
        "Reports facts first, and mentions feelings where they were spoken of.",
        "Mentions feelings where they matter to the answer.",
        "Considers how those concerned feel, and chooses its words with care for them.",
        "Puts first what the answer means to those concerned, and says hard things gently.",
    ),
}
"""By trait, from level 1 to level 5."""


def described(config: BankConfig) -> JsonObject:
    """The bank's traits, each from 1 to 5; unless all are in the middle, `means` says what each comes to."""
    levels = {
        "skepticism": config.disposition_skepticism,
        "literalism": config.disposition_literalism,
        "empathy": config.disposition_empathy,
    }
    traits = {name: NEUTRAL_TRAIT if level is None else level for name, level in levels.items()}
    if set(traits.values()) == {NEUTRAL_TRAIT}:
        return {**traits}
    means: list[JsonValue] = [MEANINGS[name][level - 1] for name, level in traits.items()]
    return {**traits, "means": means}
