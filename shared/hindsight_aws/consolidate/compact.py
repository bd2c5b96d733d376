"""Looks for near-duplicates among all observations of a scope, once a window: suggests them, or merges them.

Called by the drain when nothing is due in its scope; calls the round's judge and its writing, and ports/compaction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID

from hindsight_aws.configuration.config import resolve
from hindsight_aws.consolidate.policy import policy_of
from hindsight_aws.consolidate.ports import ConsolidationPorts
from hindsight_aws.consolidate.round import Round, only_requested
from hindsight_aws.errors import (
    ModelDenied,
    ModelInputTooLong,
    ModelRefused,
    ModelReplyTruncated,
    ModelThrottled,
    ModelUnavailable,
    WorkRaced,
    WorkSuperseded,
)
from hindsight_aws.faults import reached
from hindsight_aws.model.scope import ScopeAddress
from hindsight_aws.ports.compaction import NearPair
from hindsight_aws.ports.consolidation import ScopeLease
from hindsight_aws.ports.observations import ObservationWrite
from hindsight_aws.text.terms import frequencies

NEAR: Final = 0.95
"""The cosine from which two observations of a scope are looked at together; below it they are hardly ever the same."""
MOST_PAIRS: Final = 100
"""Pairs that one look brings up; the nearest come first, the others come when those are done with."""


@dataclass(slots=True)
class _Look:
    """What one look at a scope found and did."""

    pairs: list[NearPair]
    gone: set[UUID] = field(default_factory=set)
    apart: list[NearPair] = field(default_factory=list)
    merged: int = 0
    is_whole: bool = True

    def left(self) -> list[NearPair]:
        """The pairs whose observations are both still there as they were."""
        apart = {(pair.first.observation_id, pair.second.observation_id) for pair in self.apart}
        return [
            replace(pair, is_kept_apart=pair.is_kept_apart or _ids(pair) in apart)
            for pair in self.pairs
            if not self.gone & set(_ids(pair))
        ]


def compact(ports: ConsolidationPorts, where: ScopeAddress, lease: ScopeLease, has_time: Callable[[], bool]) -> None:
    """Ends the scope's open window: its near-duplicates are there to be seen, or merged where the bank wants that.

    A merge asks the same judge and writes in the same way as consolidation does; an observation is merged once in a
    window at most, so that chains are followed pair by pair.

    Guarantees: at-least-once safe; at most HINDSIGHT_CONSOLIDATION_MAX_DUPLICATE_CHECKS questions in a look, none of
    them twice about the same texts once it has ended; a model that cannot be asked leaves the window open for a later
    sweep.  A window whose looks began to ask more than HINDSIGHT_CONSOLIDATION_MAX_CALLS times ends with suggestions.
    Raises: WorkSuperseded when the lease was lost, WorkCancelled when the work was cancelled.
    """
    with ports.store.transaction(where.tenant_id) as tx:
        bank = tx.banks.by_id(where.bank_id)
        if bank is None:
            raise WorkSuperseded("the bank is gone")
        config = resolve(ports.settings, bank.overrides)
        mode = config.near_duplicates.lower()
        if mode == "off" or only_requested(config, lease):
            tx.compactions.put_off(where.bank_id, where.scope_id)
            return
        look = _Look(tx.compactions.pairs(where.bank_id, where.scope_id, NEAR, MOST_PAIRS))
    if mode == "merge":
        this_round = Round(
            ports, where, lease, bank, policy_of(config, lease.tags), [], [], None, config.consolidation_llm_batch_size,
            has_time,
        )  # fmt: skip
        if not _merge(this_round, look):
            return
    reached("consolidate.before_compacted")
    with ports.store.transaction(where.tenant_id) as tx:
        tx.compactions.close(where.bank_id, lease, look.left(), look.merged, is_whole=look.is_whole)


def _merge(this_round: Round, look: _Look) -> bool:
    """Asks about each pair and merges those that say the same; False when the model cannot be asked now."""
    writes: list[ObservationWrite] = []
    look.is_whole = len(look.pairs) < MOST_PAIRS
    if not _may_ask(this_round, look):
        return True
    most = this_round.ports.settings.hindsight_consolidation_max_duplicate_checks
    try:
        for pair in look.pairs:
            if pair.is_kept_apart or look.gone & set(_ids(pair)):
                continue
            if this_round.judged >= most or not this_round.has_time() or this_round.ports.text_model is None:
                look.is_whole = False
                break
            before = this_round.judged
            write = _judged(this_round, pair)
            if this_round.judged == before:
                look.is_whole = False
                break
            if write is None:
                look.apart.append(pair)
            else:
                writes.append(write)
                look.gone.update(_ids(pair))
    except (ModelThrottled, ModelUnavailable, ModelDenied):
        this_round.keep_usage()
        return False
    except (WorkSuperseded, WorkRaced):
        this_round.keep_usage()
        raise
    return _is_written(this_round, look, writes)


def _may_ask(this_round: Round, look: _Look) -> bool:
    """Counts the look before its model is asked; False when looks that nobody ended have asked as often as they may."""
    if all(pair.is_kept_apart for pair in look.pairs):
        return True
    where = this_round.where
    with this_round.ports.store.transaction(where.tenant_id) as tx:
        tries = tx.compactions.begin_questions(where.bank_id, where.scope_id)
    if tries > this_round.ports.settings.hindsight_consolidation_max_calls:
        look.is_whole = False
        return False
    return True


def _is_written(this_round: Round, look: _Look, writes: Sequence[ObservationWrite]) -> bool:
    """Writes what was judged; False when something changed meanwhile, and everything is looked at again later."""
    look.merged = len(writes)
    try:
        if writes:
            this_round.write(writes)
        else:
            this_round.keep_usage()
    except (WorkSuperseded, WorkRaced):
        this_round.keep_usage()
        return False
    with this_round.ports.store.transaction(this_round.where.tenant_id) as tx:
        tx.compactions.keep_apart(this_round.where.bank_id, this_round.where.scope_id, look.apart)
    return True


def _judged(this_round: Round, pair: NearPair) -> ObservationWrite | None:
    """The older observation with the other's evidence and, where the judge gave one, a joint wording; None: keep both.

    A question that the provider will not have counts as keep: it would not have it next time either.
    """
    try:
        verdict = this_round.judge(pair.second.text, pair.first.text)
    except (ModelRefused, ModelInputTooLong, ModelReplyTruncated):
        return None
    if not verdict.is_same:
        return None
    text = verdict.text if verdict.text != pair.first.text else None
    (vector,) = this_round.embed([text]) if text is not None else (None,)
    return ObservationWrite(
        observation_id=pair.first.observation_id,
        text=text,
        embedding=vector,
        terms={} if text is None else frequencies(text),
        evidence=(),
        is_new=False,
        absorbs=(pair.second.observation_id,),
    )


def _ids(pair: NearPair) -> tuple[UUID, UUID]:
    return pair.first.observation_id, pair.second.observation_id
