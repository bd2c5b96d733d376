"""What memories are found by: postings, tags, and the counters that weigh them; facts and observations alike.

Used by store/{memories,documents,observations}.py; calls sql/index.sql.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final
from uuid import UUID

from hindsight_aws.model.ids import BankId
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session

_SQL = queries("index")

COUNTER_SHARDS: Final = 8


@dataclass(frozen=True, slots=True)
class Indexed:
    """A memory as the index knows it; `term_counts` are its index terms as text/terms.frequencies counts them."""

    id: UUID
    fact_type: str
    term_counts: Mapping[str, int]
    tags: Sequence[str] = ()

    @property
    def length(self) -> int:
        """The number of its terms, repeats included: the document length of BM25."""
        return sum(self.term_counts.values())


class PostgresIndex:
    """The index rows of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, bank_id: BankId, units: Sequence[Indexed]) -> None:
        """Writes postings and tags of memories that have none yet; the counters are the caller's to change."""
        self._session.execute(
            _SQL["add_terms"],
            bank_id=bank_id,
            ids=[unit.id for unit in units],
            fact_types=[unit.fact_type for unit in units],
            lengths=[unit.length for unit in units],
            places=list(chain.from_iterable([place] * len(unit.term_counts) for place, unit in enumerate(units, 1))),
            terms=list(chain.from_iterable(unit.term_counts for unit in units)),
            counts=list(chain.from_iterable(unit.term_counts.values() for unit in units)),
        )
        self._add_tags(bank_id, [(unit.id, tag) for unit in units for tag in unit.tags])

    def retag(self, bank_id: BankId, tags_of: Mapping[UUID, Sequence[str]]) -> None:
        """Gives memories other tags."""
        self._session.execute(_SQL["drop_tags"], bank_id=bank_id, ids=list(tags_of))
        self._add_tags(bank_id, [(unit_id, tag) for unit_id, tags in tags_of.items() for tag in dict.fromkeys(tags)])

    def drop_terms(self, bank_id: BankId, ids: Sequence[UUID]) -> None:
        """Takes out the postings of memories whose text changes; their tags stay."""
        self._session.execute(_SQL["drop_terms"], bank_id=bank_id, ids=list(ids))

    def count(self, bank_id: BankId, changes: Mapping[str, tuple[int, int]]) -> None:
        """Adds to the bank's counters at the commit: memories and terms by type, negative where some went."""
        gathered = self._session.counts.setdefault(bank_id, {})
        for fact_type, (units, terms) in changes.items():
            units_before, terms_before = gathered.get(fact_type, (0, 0))
            gathered[fact_type] = (units_before + units, terms_before + terms)

    def _add_tags(self, bank_id: BankId, tagged: Sequence[tuple[UUID, str]]) -> None:
        if tagged:
            ids, tags = [unit_id for unit_id, _ in tagged], [tag for _, tag in tagged]
            self._session.execute(_SQL["add_tags"], bank_id=bank_id, ids=ids, tags=tags)


def write_counts(session: Session) -> None:
    """Writes what the transaction counted, right before its commit.

    Every writer of a bank may lock the same counters: whoever took some early, and something else after, would deadlock
    with one who took these in the other order.
    """
    for bank_id, changes in sorted(session.counts.items()):
        changed = {fact_type: change for fact_type, change in changes.items() if change != (0, 0)}
        if changed:
            session.execute(
                _SQL["count"],
                bank_id=bank_id,
                shard=random.randrange(COUNTER_SHARDS),  # noqa: S311  spreads writers, guards nothing
                fact_types=list(changed),
                units=[units for units, _ in changed.values()],
                terms=[terms for _, terms in changed.values()],
            )


def added(units: Sequence[Indexed]) -> dict[str, tuple[int, int]]:
    """How counters change when these memories come."""
    lengths: defaultdict[str, list[int]] = defaultdict(list)
    for unit in units:
        lengths[unit.fact_type].append(unit.length)
    return {fact_type: (len(found), sum(found)) for fact_type, found in lengths.items()}
