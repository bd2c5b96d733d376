"""Finds pages of the knowledge base by words and by meaning.  Called by the API.

The bank is found in one transaction, the question is embedded outside any, and all else is read in a second one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from hindsight_aws.access import PageSight, bank_not_found, page_sight, require, require_bank
from hindsight_aws.configuration.config import resolve
from hindsight_aws.errors import ModelError, ModelThrottled
from hindsight_aws.knowledge.ports import SearchPorts
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.ports.knowledge import PageText
from hindsight_aws.ports.model_gateway import Embedder, ModelUsage, QueryVector
from hindsight_aws.ports.store import Transaction
from hindsight_aws.settings import Settings
from hindsight_aws.text.terms import frequencies
from hindsight_aws.text.tokens import truncate
from hindsight_aws.usage.allowance import parked
from hindsight_aws.usage.ledger import ledger_entries

MOST_FOUND: Final = 50
_LIKELY: Final = 50
"""Pages whose words are counted: those that hold the most of what the question's words begin with."""
_RANK_OFFSET: Final = 60
_NAME_COUNTS: Final = 3
_SATURATION, _LENGTH_SHARE = 1.2, 0.75
"""BM25's k1 and b, as usual."""
_SNIPPET: Final = 300
_MOST_WORDS: Final = 32
_NEVER: Final = "(?!)"
_LONGEST_QUESTION: Final = 10_000
"""Characters of which tokens are counted at all."""


@dataclass(frozen=True, slots=True)
class Found:
    """A page that was found; `score` is 1 for one that every way of searching found first, never below 0."""

    node_id: str
    model_id: str
    name: str
    source_query: str
    snippet: str
    score: float
    written_at: datetime


def search(
    ports: SearchPorts, principal: Principal, bank: str, question: str, wanted: TagFilter, limit: int
) -> tuple[list[Found], int]:
    """The pages in sight that the question finds, best first, and how many there are; at most 50 by each way.

    Guarantees: nothing of a page that is withheld, or not in sight, is told or counted.  Writes nothing but the ledger
    lines of its model call; no model is asked where there is nothing to find, nor while the tenant's model work waits:
    then the pages are those that hold the words.

    Raises: AccessDenied; NotFound; ModelThrottled and other model errors.
    """
    require(principal, Permission.READ)
    require_bank(principal, bank)
    asked = _within_bounds(question, ports.settings.hindsight_api_recall_max_query_tokens)
    with ports.store.snapshot(principal.tenant_id) as tx:
        there = tx.banks.find(bank)
        if there is None:
            raise bank_not_found(bank)
        seen = page_sight(principal, wanted)
        is_vain = not asked.strip() or not tx.knowledge.seen(there.bank_id, seen)
        is_parked = parked(tx, ports.clock.now()) is not None
    if is_vain:
        return [], 0
    embedder = None if is_parked else ports.embedder.of(there.embedding_model)
    vector = None if embedder is None else _embedded(ports, embedder, principal, there, asked)
    with ports.store.snapshot(principal.tenant_id) as tx:
        arms = [] if vector is None else [_near(tx, ports.settings, there, vector, seen)]
        words = list(frequencies(asked))[:_MOST_WORDS]
        if resolve(ports.settings, there.overrides).enable_text_search:
            arms.append(by_words(words, tx.knowledge.likely(there.bank_id, _beginnings(words), seen, _LIKELY)))
        scores = fused(arms)
        best = sorted(scores, key=lambda node_id: (-scores[node_id], node_id))
        texts = tx.knowledge.texts(there.bank_id, best[:limit], seen)
    return [_found(text, scores[text.node_id], words) for text in texts], len(best)


def by_words(words: Sequence[str], pages: Sequence[PageText]) -> list[str]:
    """The pages that hold one of the words, best first by BM25; a word of its name counts thrice."""
    likely = re.compile("|".join(map(re.escape, _beginnings(words))) or _NEVER)
    counted = {page.node_id: _frequencies(page, likely) for page in pages}
    lengths = {page.node_id: _length(page) for page in pages}
    mean = sum(lengths.values()) / len(lengths) if lengths else 1.0
    holding = {word: sum(word in counts for counts in counted.values()) for word in words}

    def score(node_id: str) -> float:
        total, stretch = 0.0, 1 - _LENGTH_SHARE + _LENGTH_SHARE * lengths[node_id] / mean
        for word in words:
            count = counted[node_id].get(word, 0)
            rarity = math.log(1 + (len(counted) - holding[word] + 0.5) / (holding[word] + 0.5))
            total += rarity * count * (_SATURATION + 1) / (count + _SATURATION * stretch)
        return total

    scores = {node_id: score(node_id) for node_id in counted}
    hits = [node_id for node_id, value in scores.items() if value > 0]
    return sorted(hits, key=lambda node_id: (-scores[node_id], node_id))


def fused(arms: Sequence[Sequence[str]]) -> dict[str, float]:
    """Reciprocal ranks of each page over the arms, as a share of what being first in each of them gives."""
    scores: dict[str, float] = {}
    for arm in arms:
        for place, node_id in enumerate(arm):
            scores[node_id] = scores.get(node_id, 0.0) + _RANK_OFFSET / (_RANK_OFFSET + place) / len(arms)
    return {node_id: min(score, 1.0) for node_id, score in scores.items()}


def snippet_of(text: PageText, words: Sequence[str]) -> str:
    """What the page says around the first place that begins like one of the words; without a text its question."""
    said = " ".join(text.content.split())
    if not said:
        return " ".join(text.source_query.split())[:_SNIPPET]
    small = said.lower()
    places = [place for beginning in _beginnings(words) if (place := small.find(beginning)) >= 0]
    start = max(min(places, default=0) - _SNIPPET // 3, 0)
    start = 0 if start == 0 else said.find(" ", start) + 1
    end = start + _SNIPPET
    return f"{'…' if start else ''}{said[start:end].strip()}{'…' if end < len(said) else ''}"


def _embedded(ports: SearchPorts, embedder: Embedder, principal: Principal, bank: Bank, question: str) -> QueryVector:
    usage: list[ModelUsage] = []
    try:
        (embedding,) = embedder.embed([question], "query", usage.append)
    except (ModelError, ModelThrottled):
        _record(ports, principal, bank, usage)
        raise
    _record(ports, principal, bank, usage)
    return QueryVector(embedder.model, embedding)


def _record(ports: SearchPorts, principal: Principal, bank: Bank, usage: Sequence[ModelUsage]) -> None:
    with ports.store.transaction(principal.tenant_id) as tx:
        tx.usage.record(ledger_entries(usage, principal.subject, bank.bank_id))


def _near(tx: Transaction, settings: Settings, bank: Bank, vector: QueryVector, seen: PageSight) -> list[str]:
    least = settings.hindsight_api_semantic_min_similarity
    return [page.node_id for page in tx.knowledge.nearest(bank.bank_id, vector, least, seen, MOST_FOUND)]


def _within_bounds(question: str, most_tokens: int) -> str:
    return truncate(question[:_LONGEST_QUESTION], most_tokens) if most_tokens else question


def _beginnings(words: Sequence[str]) -> list[str]:
    """What the words of a text begin with that have one of these stems: a stem may end otherwise than its word."""
    return [word if len(word) <= 3 or not word.isascii() else word[: max(3, len(word) - 2)] for word in words]


def _frequencies(page: PageText, likely: re.Pattern[str]) -> Mapping[str, int]:
    """How often the page holds index terms, of words in ASCII those alone that are likely: a stem costs time."""
    counts: dict[str, int] = {}
    for text, weight in _weighted(page):
        near = [word for word in text.split() if not word.isascii() or likely.search(word.lower())]
        for term, count in frequencies(" ".join(near)).items():
            counts[term] = counts.get(term, 0) + weight * count
    return counts


def _length(page: PageText) -> int:
    return sum(weight * len(text.split()) for text, weight in _weighted(page)) or 1


def _weighted(page: PageText) -> Sequence[tuple[str, int]]:
    return (page.name, _NAME_COUNTS), (page.source_query, 1), (page.content, 1)


def _found(text: PageText, score: float, words: Sequence[str]) -> Found:
    return Found(
        text.node_id,
        text.model_id,
        text.name,
        text.source_query,
        snippet_of(text, words),
        round(score, 6),
        text.written_at,
    )
