"""Makes what a fact is found by, for facts that people wrote or brought back: the same texts that retain embeds.

Called by edit and revert, outside any transaction; calls the Embedder port.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from hindsight_aws.curation.ports import CurationPorts
from hindsight_aws.errors import HindsightError
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.principal import Principal
from hindsight_aws.ports.curation import FactAsKnown, Indexing
from hindsight_aws.ports.model_gateway import ModelUsage, serving
from hindsight_aws.ports.usage import LedgerEntry
from hindsight_aws.retain.extraction.wording import embedded_text, indexed_text, months_of
from hindsight_aws.text.terms import frequencies
from hindsight_aws.usage.ledger import ledger_entries


def index(
    ports: CurationPorts,
    principal: Principal,
    bank: Bank,
    fact: FactAsKnown,
    named: Sequence[str],
    called: Sequence[str],
) -> tuple[Indexing, list[LedgerEntry]]:
    """The fact's vector and terms, with what they cost; `named` are its entities, `called` all that they are called.

    Raises: Conflict when the model of the bank's vectors is not served; what the Embedder does, its cost then recorded.
    """
    embedder = serving(ports.embedder, bank.embedding_model)
    used: list[ModelUsage] = []
    text = embedded_text(fact.text, fact.occurred_start or fact.mentioned_at, fact.occurred_end, named)
    try:
        (vector,) = embedder.embed([text], "document", used.append)
    except HindsightError:
        _record(ports, principal, ledger_entries(used, principal.subject, bank.bank_id))
        raise
    months = months_of(fact.occurred_start, fact.occurred_end)
    terms = frequencies(indexed_text(fact.text, fact.context, months, called))
    return Indexing(vector, embedder.model, terms), ledger_entries(used, principal.subject, bank.bank_id)


@contextmanager
def paid(ports: CurationPorts, principal: Principal, costs: Sequence[LedgerEntry]) -> Iterator[None]:
    """Writes down what was paid for when the write it was for comes to nothing; else the write has done so."""
    try:
        yield
    except HindsightError:
        _record(ports, principal, costs)
        raise


def _record(ports: CurationPorts, principal: Principal, costs: Sequence[LedgerEntry]) -> None:
    with ports.store.transaction(principal.tenant_id) as tx:
        tx.usage.record(costs)
