"""Links in Postgres, and the queue of what is left to do about them.

Called through ports/links.py; calls sql/links.sql.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal
from uuid import UUID

from hindsight_aws.model.ids import BankId, DocumentId, UnitId
from hindsight_aws.ports.links import LinkLease, LinkRule, Tended
from hindsight_aws.ports.memories import NewFact
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session

_SQL = queries("links")

_INDEX_SCAN_BOUND: Final = 20_000
_MOST_PER_STATEMENT: Final = 500
_MOST_TAKEN_OUT: Final = 50_000
"""Links that one statement takes out: well within the time that a statement has."""
_HALF_FLOAT_STEP: Final = 0.0005
"""Cosines of stored vectors are exact to about this much: 0.7 is reached by what was 0.7 before it was stored."""

Kind = Literal["temporal", "semantic", "caused_by"]
Found = Sequence[tuple[UUID, UUID, float]]


class PostgresLinks:
    """The links of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, bank_id: BankId, facts: Sequence[NewFact], rule: LinkRule) -> None:
        self._add_causes(bank_id, facts)
        self._link(bank_id, dict.fromkeys((fact.id for fact in facts if _when(fact)), 0), "temporal", rule)
        self._link(bank_id, dict.fromkeys((f.id for f in facts if not f.embedding.is_zero), 0), "semantic", rule)

    def add_later(self, bank_id: BankId, facts: Sequence[NewFact]) -> None:
        self._add_causes(bank_id, facts)
        self._session.execute(_SQL["queue_facts"], bank_id=bank_id, ids=[fact.id for fact in facts])

    def will_lose(self, bank_id: BankId, fact_ids: Sequence[UnitId]) -> None:
        self._take_out(bank_id, fact_ids, facts_stay=False)

    def will_change(self, bank_id: BankId, fact_ids: Sequence[UnitId]) -> None:
        self._take_out(bank_id, fact_ids, facts_stay=True)
        self._session.execute(_SQL["queue_facts"], bank_id=bank_id, ids=list(fact_ids))

    def archive_will_lose(
        self,
        bank_id: BankId,
        *,
        document_ids: Sequence[DocumentId] | None = None,
        fact_types: Sequence[str] | None = None,
        fact_ids: Sequence[UnitId] | None = None,
    ) -> None:
        """Queues what nothing but the archive holds, before these archived facts, or those of these, go for good.

        For this package alone.
        """
        self._session.execute(
            _SQL["queue_archived_entities"],
            bank_id=bank_id,
            document_ids=None if document_ids is None else list(document_ids),
            fact_types=None if fact_types is None else list(fact_types),
            fact_ids=None if fact_ids is None else list(fact_ids),
        )

    def take_lease(self, bank_id: BankId, seconds: float) -> LinkLease | None:
        row = self._session.row(_SQL["take_lease"], bank_id=bank_id, seconds=seconds)
        return None if row is None or row["woken"] else LinkLease(bank_id, row["fence"])

    def lock_lease(self, lease: LinkLease) -> bool:
        return self._session.row(_SQL["lock_lease"], bank_id=lease.bank_id, fence=lease.fence) is not None

    def renew_lease(self, lease: LinkLease, seconds: float) -> bool:
        touched = self._session.execute(_SQL["renew_lease"], bank_id=lease.bank_id, fence=lease.fence, seconds=seconds)
        return touched == 1

    def release_lease(self, lease: LinkLease, *, even_if_woken: bool = False) -> bool:
        touched = self._session.execute(
            _SQL["release_lease"], bank_id=lease.bank_id, fence=lease.fence, even_if_woken=even_if_woken
        )
        return touched == 1

    def relink_due(self, bank_id: BankId, rule: LinkRule, at_most: int) -> Tended:
        due = self._due(bank_id, "fact", at_most)
        if due:
            kinds: tuple[Kind, ...] = ("temporal", "semantic")
            for kind in kinds:
                degrees = self._session.tuples(_SQL["degrees"], bank_id=bank_id, ids=list(due), kind=kind)
                self._link(bank_id, dict(degrees), kind, rule)
            self._settle(bank_id, due.values())
        return Tended(len(due))

    def prune_due(self, bank_id: BankId, at_most: int, retry_after_s: float) -> Tended:
        due = self._due(bank_id, "entity", at_most)
        if not due:
            return Tended(0)
        there = dict(self._session.tuples(_SQL["free_entities"], bank_id=bank_id, ids=list(due)))
        free = [entity_id for entity_id, is_free in there.items() if is_free]
        busy = [entity_id for entity_id, is_free in there.items() if not is_free]
        if free:
            self._session.execute(_SQL["remove_orphans"], bank_id=bank_id, ids=free)
            self._session.execute(_SQL["recount_cooccurrences"], bank_id=bank_id, ids=free)
        if busy:
            put_off = [entry for entity_id in busy for entry in due[entity_id]]
            self._session.execute(_SQL["postpone"], bank_id=bank_id, entries=put_off, seconds=retry_after_s)
        self._settle(bank_id, (entries for entity_id, entries in due.items() if entity_id not in busy))
        return Tended(len(due) - len(busy), len(busy))

    def _take_out(self, bank_id: BankId, fact_ids: Sequence[UnitId], *, facts_stay: bool) -> None:
        if not fact_ids:
            return
        ids = sorted(fact_ids)
        asked = {"bank_id": bank_id, "ids": ids, "facts_stay": facts_stay, "at_most": _MOST_TAKEN_OUT}
        while self._session.tuples(_SQL["take_out"], **asked)[0][0] == _MOST_TAKEN_OUT:
            pass
        self._session.execute(_SQL["queue_entities"], bank_id=bank_id, ids=ids)

    def _add_causes(self, bank_id: BankId, facts: Sequence[NewFact]) -> None:
        causes = [(fact.id, cause, 1.0) for fact in facts for cause in fact.cause_ids if cause != fact.id]
        self._insert(bank_id, "caused_by", list(dict.fromkeys(causes)))

    def _link(self, bank_id: BankId, degrees: Mapping[UnitId, int], kind: Kind, rule: LinkRule) -> None:
        """Links these facts, which have so many links of the kind already, as far as the rule leaves them room."""
        with_room = sorted(fact_id for fact_id, links in degrees.items() if links < rule.most)
        for start in range(0, len(with_room), _MOST_PER_STATEMENT):
            ids = with_room[start : start + _MOST_PER_STATEMENT]
            found = self._near(bank_id, ids, [degrees[fact_id] for fact_id in ids], kind, rule)
            self._insert(bank_id, kind, _each_pair_once(found))

    def _near(self, bank_id: BankId, ids: list[UnitId], links: list[int], kind: Kind, rule: LinkRule) -> Found:
        asked = {"bank_id": bank_id, "ids": ids, "links": links, "most": rule.most}
        if kind == "temporal":
            return self._session.tuples(_SQL["near_in_time"], **asked, within=rule.within)
        farthest = 1 - rule.min_similarity + _HALF_FLOAT_STEP
        if rule.exact:
            return self._session.tuples(_SQL["near_in_meaning"], **asked, farthest=farthest)
        self._session.execute(_SQL["search_by_index"], tuples=str(_INDEX_SCAN_BOUND))
        return self._session.tuples(_SQL["near_by_index"], **asked, farthest=farthest)

    def _insert(self, bank_id: BankId, kind: Kind, found: Found) -> None:
        if found:
            self._session.execute(
                _SQL["add"],
                bank_id=bank_id,
                kind=kind,
                ends=list({end for from_unit, to_unit, _ in found for end in (from_unit, to_unit)}),
                from_units=[from_unit for from_unit, _, _ in found],
                to_units=[to_unit for _, to_unit, _ in found],
                weights=[weight for _, _, weight in found],
            )

    def _due(self, bank_id: BankId, kind: Literal["fact", "entity"], at_most: int) -> dict[UUID, list[UUID]]:
        """The entries that are due, by what they are about."""
        return dict(self._session.tuples(_SQL["due"], bank_id=bank_id, kind=kind, at_most=at_most))

    def _settle(self, bank_id: BankId, entries: Iterable[Sequence[UUID]]) -> None:
        settled = [entry for of_item in entries for entry in of_item]
        if settled:
            self._session.execute(_SQL["settle"], bank_id=bank_id, entries=settled)


def _when(fact: NewFact) -> bool:
    return fact.occurred_start is not None or fact.mentioned_at is not None


def _each_pair_once(found: Found) -> Found:
    """The links without those whose ends chose each other the other way round as well."""
    pairs: dict[tuple[UUID, UUID], tuple[UUID, UUID, float]] = {}
    for link in found:
        pairs.setdefault((min(link[:2]), max(link[:2])), link)
    return list(pairs.values())
