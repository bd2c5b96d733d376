"""Tries extraction on a text: what would be found, under the bank's settings or others, with nothing stored.

Called by the API; calls intake, screening, chunking and extraction.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final
from uuid import UUID

from hindsight_aws.access import require, require_bank
from hindsight_aws.configuration.config import changed
from hindsight_aws.errors import TooLarge
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.ids import BankId
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.ports.model_gateway import ModelUsage
from hindsight_aws.retain.chunking.chunk import chunk_text
from hindsight_aws.retain.extraction.extract_all import (
    Extractions,
    Wanted,
    asked_about,
    asked_at_most,
    extract_all,
)
from hindsight_aws.retain.extraction.found import Extraction, as_it_stands
from hindsight_aws.retain.extraction.passages import Passage, passages_of
from hindsight_aws.retain.extraction.recipes import Recipe, recipe_of
from hindsight_aws.retain.extraction.request import extraction_key
from hindsight_aws.retain.intake.accept import accept
from hindsight_aws.retain.intake.requests import RetainItem, RetainRequest, RetainTotals
from hindsight_aws.retain.intake.screen import screen
from hindsight_aws.retain.ports import RetainPorts
from hindsight_aws.screening import policy_of
from hindsight_aws.usage.allowance import Allowance, parked
from hindsight_aws.usage.ledger import ledger_entries

LONGEST_CHARS: Final = 60_000
"""A try is made while somebody waits: some twenty chunks of the default size."""
_NO_BANK: Final = BankId(UUID(int=0))


@dataclass(frozen=True, slots=True)
class DryRunRequest:
    """A text as retain takes it, and the settings it is tried under, where they differ from the bank's.

    `overrides` are bank settings by name; `asks_causes` and `language` stand in for the server's.
    """

    item: RetainItem
    overrides: Mapping[str, object] = field(default_factory=dict)
    asks_causes: bool | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class DryRun:
    """Each chunk with what was found in it, and the tokens of all calls."""

    chunks: tuple[tuple[str, Extraction], ...]
    usage: RetainTotals


def dry_run(ports: RetainPorts, principal: Principal, bank: str, request: DryRunRequest) -> DryRun:
    """What retain would extract from the text.

    Guarantees: no bank is made and nothing is stored but the ledger's lines of the calls, failed ones too.

    Raises: InvalidRequest and its kinds, for the text as for the settings; ContentRefused by the bank's screening;
    ModelError when a chunk cannot be read; WorkDeferred when the model is busy, or time runs out; LimitReached when the
    tenant may not spend what the calls may cost.
    """
    require(principal, Permission.WRITE)
    require_bank(principal, bank)
    if len(request.item.content) > LONGEST_CHARS:
        raise TooLarge(f"content: at most {LONGEST_CHARS} characters can be tried at once")
    give_up_at = time.monotonic() + ports.settings.hindsight_retain_sync_seconds
    tasks = accept(RetainRequest((request.item,)), ports.clock.now(), may_fold=True)
    with ports.store.transaction(principal.tenant_id) as tx:
        stored = tx.banks.find(bank)
        limit = parked(tx, ports.clock.now())
    if limit is not None:
        raise limit
    found = stored or Bank(_NO_BANK, bank, None, {}, None)
    ((task,), _) = screen(partial(policy_of, ports.settings, found), tasks)
    recipe = _recipe(ports, principal, found, request)
    size, structured = recipe.config.retain_chunk_size, recipe.config.retain_structured_chunk_size
    part = task.parts[0]
    passages = passages_of([(part, text) for text in chunk_text(part.content, size, structured)])
    usages: list[ModelUsage] = []
    allowance = Allowance(principal.tenant_id, ports.clock)
    extractions = _extractions(
        ports, recipe, passages, usages, give_up_at, partial(_may_ask, ports, principal, allowance)
    )
    with ports.store.transaction(principal.tenant_id) as tx:
        tx.usage.record(ledger_entries(usages, principal.subject, None if stored is None else stored.bank_id))
        allowance.settle(tx)
    if extractions.stopped_by is not None:
        raise extractions.stopped_by
    for error in extractions.failed.values():
        raise error
    return DryRun(tuple((each.text, _of(recipe, each, extractions)) for each in passages), _totals(usages))


def _recipe(ports: RetainPorts, principal: Principal, bank: Bank, request: DryRunRequest) -> Recipe:
    """The bank's recipe under the item's strategy, with the request's own settings laid over both."""
    strategy = request.item.strategy
    has_model = ports.text_model is not None
    recipe = recipe_of(ports.settings, principal.tenant_id, bank, strategy, has_model=has_model)
    if request.overrides:
        stated = changed(ports.settings, {**bank.overrides, **_bundle(recipe, strategy)}, request.overrides)
        tried = replace(bank, overrides={**stated, "retain_default_strategy": ""})
        recipe = recipe_of(ports.settings, principal.tenant_id, tried, None, has_model=has_model)
    if recipe.extractor is None:
        return recipe
    causes, language = request.asks_causes, request.language
    extractor = replace(
        recipe.extractor,
        asks_causes=recipe.extractor.asks_causes if causes is None else causes,
        language=recipe.extractor.language if language is None else language,
    )
    return Recipe(recipe.config, extractor)


def _bundle(recipe: Recipe, strategy: str | None) -> Mapping[str, object]:
    """What the strategy that applies sets."""
    bundle = (recipe.config.retain_strategies or {}).get(strategy or recipe.config.retain_default_strategy or "")
    return bundle if isinstance(bundle, Mapping) else {}


def _extractions(
    ports: RetainPorts,
    recipe: Recipe,
    passages: list[Passage],
    usages: list[ModelUsage],
    give_up_at: float,
    may_ask: Callable[[Sequence[Wanted]], int],
) -> Extractions:
    if recipe.extractor is None or ports.text_model is None:
        return Extractions()
    wanted = [Wanted(extraction_key(recipe.extractor, each), recipe.extractor, each) for each in passages]
    return extract_all(
        ports.text_model,
        wanted,
        usages.append,
        lambda _found: None,
        in_flight=ports.settings.hindsight_api_retain_parallelism,
        give_up_at=give_up_at,
        may_ask=may_ask,
    )


def _may_ask(ports: RetainPorts, principal: Principal, allowance: Allowance, chunks: Sequence[Wanted]) -> int:
    """How many of these chunks the model may be asked about now.  Raises LimitReached or ModelThrottled for none."""
    with ports.store.transaction(principal.tenant_id) as tx:
        granted = allowance.ask(tx, lambda: asked_about(chunks), each=asked_at_most(chunks))
    if granted.refusal is not None:
        raise granted.refusal
    return granted.calls


def _of(recipe: Recipe, passage: Passage, extractions: Extractions) -> Extraction:
    if recipe.extractor is None:
        return as_it_stands(passage.text)
    return extractions.found[extraction_key(recipe.extractor, passage)]


def _totals(usages: list[ModelUsage]) -> RetainTotals:
    return RetainTotals(
        input_tokens=sum(usage.tokens.total_input for usage in usages),
        output_tokens=sum(usage.tokens.output for usage in usages),
        cached_tokens=sum(usage.tokens.cache_read for usage in usages),
    )
