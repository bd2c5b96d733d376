"""An extraction model that errs in every way costs no good fact, and no bad reply of it passes for success."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from hindsight_aws.aws.bedrock.replies import read_reply
from hindsight_aws.errors import HindsightError, ModelError
from hindsight_aws.ports.model_gateway import ModelCall
from hindsight_aws.retain import RetainItem
from tests.conftest import Dose
from tests.integration.retain.conftest import Workshop
from tests.support.hostile import HostileModel, Response, any_json, broken_answer, uses

MOST_CALLS = 2
"""A passage too short to be halved is asked about once, and once more with what was wrong."""


def recorded(chance: random.Random) -> tuple[Any, list[str]]:
    """An input of `record_facts`, and the words of those of its facts that are as they should be."""
    facts: list[Any] = []
    good: list[str] = []
    for place in range(chance.randrange(6)):
        if chance.random() < 0.5:
            good.append(f"Bea owns house number {place}.")
            facts.append(
                {"what": good[-1], "fact_type": "world", **chance.choice([{}, {"entities": ["Bea"]}, {"who": []}])}
            )
        else:
            facts.append(_bad_fact(chance))
    return {"facts": facts}, good


def _bad_fact(chance: random.Random) -> Any:
    field = chance.choice(["when", "where", "why", "who", "entities"])
    return chance.choice(
        [
            {"what": "", "fact_type": "world"},
            {"what": ["a", "list"]},
            {"fact_type": "world"},
            {"what": "A fact with a broken field.", field: {"x": [1]} if field in {"when", "where", "why"} else [5]},
            {"what": "\x00\x01 \u200b"},
            "a text",
            7,
            None,
            [],
            {"what": {"deep": any_json(chance)}},
        ]
    )


class Extractor:
    """Answers by a seed; remembers what each readable reply offered."""

    def __init__(self, seed: str) -> None:
        self.chance = random.Random(seed)
        self.offered: list[list[str]] = []

    def reply(self, call: ModelCall) -> Response:
        document, good = recorded(self.chance)
        response = broken_answer(self.chance, call, document) if self.chance.random() < 0.4 else uses(call, document)
        try:
            read_reply(response, call)
        except ModelError:
            return response
        self.offered.append(good if "house number" in str(response) else [])
        return response


@pytest.mark.timeout(600)
def test_no_reply_costs_a_good_fact_or_passes_for_success(workshop: Workshop, dose: Dose, seed: int) -> None:
    told = {"stored": 0, "failed": 0}
    for number in range(60 if dose == "small" else 500):
        extractor = Extractor(f"{seed}/{number}")
        model = HostileModel(extractor.reply)
        shop = replace(workshop, model=model)  # type: ignore[arg-type]  # another model with the same promise
        bank = f"bank-{number}"

        try:
            shop.retain(RetainItem("Bea owns houses in this street, and a bicycle."), bank=bank)
            is_stored = True
        except HindsightError:
            is_stored = False

        told["stored" if is_stored else "failed"] += 1
        texts = [
            row["text"] for row in _rows(shop, bank, "SELECT u.text FROM memory_units u JOIN banks b USING (bank_id)")
        ]
        (status,) = _rows(shop, bank, "SELECT o.status FROM operations o JOIN banks b USING (bank_id)")
        best = max(map(len, extractor.offered), default=0)
        assert len(model.calls) <= MOST_CALLS, number
        assert len({(call.system, call.blocks) for call in model.calls}) == len(model.calls), number
        assert (status["status"] == "completed") is is_stored, number
        assert len([text for text in texts if "house number" in text]) == (best if is_stored else 0), number
        assert is_stored or best == 0, f"{number}: {best} good facts were lost"
        assert not is_stored or texts or _says_nothing(model), f"{number}: no fact, and success"
    assert min(told.values()) > 0, told


def _says_nothing(model: HostileModel) -> bool:
    """Whether some readable reply recorded nothing, or only facts without words: then there is nothing to store."""
    return any(
        isinstance(facts := document.get("facts"), list)
        and all(isinstance(entry, dict) and not str(entry.get("what", "")).strip("\x00\x01 \u200b") for entry in facts)
        for _, document in model.heard
        if document is not None
    )


def _rows(shop: Workshop, bank: str, query: str) -> list[dict[str, Any]]:
    return shop.rows(f"{query} WHERE b.external_id = %s", bank)
