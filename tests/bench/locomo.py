"""How well recall finds the turns of a conversation that answer a question: `python -m tests.bench locomo --data FILE`.

Each conversation becomes a bank of verbatim turns, a document a session, through retain itself on a Postgres of its
own, with real vectors.  No text model, no rerank model.  `--ablate` leaves out each arm and each boost in turn.
"""

from __future__ import annotations

import argparse
from array import array
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Final
from unittest.mock import patch
from uuid import uuid4

import psycopg

from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Principal
from hindsight_aws.ports.clock import SystemClock
from hindsight_aws.ports.model_gateway import Embedder, Embedding, EmbeddingPurpose, ModelUsage, TokenUsage, UsageSink
from hindsight_aws.recall import RecallQuery, recall
from hindsight_aws.retain import RetainItem, RetainPorts, RetainRequest, retain
from hindsight_aws.settings import Settings
from hindsight_aws.store.migrator import migrate
from hindsight_aws.store.postgres import PostgresStore
from infra.local.bedrock.minilm import DIMENSION, MiniLM
from tests.bench.conversations import Conversation, conversations
from tests.bench.measures import Quality, head, mean, quality, row
from tests.support.models import NotedWakeups
from tests.support.server import throwaway_server
from tests.support.units import DIMENSIONS

_PER_REQUEST: Final = 100
_BOOSTS: Final = "hindsight_aws.recall.boosts"
_SURROUNDINGS: Final = "hindsight_aws.recall.surroundings"


@dataclass(frozen=True)
class Variant:
    """Recall with something left out: bank settings, constants of modules, and whether questions have vectors."""

    title: str
    bank: tuple[tuple[str, str], ...] = ()
    constants: tuple[tuple[str, str, float], ...] = ()
    has_vectors: bool = True


_WHOLE: Final = Variant("whole")
_ABLATIONS: Final = (
    Variant("without the semantic arm", has_vectors=False),
    Variant("without the keyword arm", (("enable_text_search", "false"),)),
    Variant("without the graph arm", (("enable_graph_retrieval", "false"),)),
    Variant("without the temporal arm", (("enable_temporal_retrieval", "false"),)),
    Variant("without surroundings", constants=((_SURROUNDINGS, "_WEIGHT", 0.0),)),
    Variant("without the name it opens with", constants=((_SURROUNDINGS, "_NAMED", 1.0),)),
    Variant("without lifting what is in time", constants=((_SURROUNDINGS, "_IN_TIME", 1.0),)),
    Variant("without recency", constants=((_BOOSTS, "_RECENCY_WEIGHT", 0.0),)),
    Variant("without nearness to its middle", constants=((_BOOSTS, "_TIME_WEIGHT", 0.0),)),
    Variant("without proof", constants=((_BOOSTS, "_PROOF_WEIGHT", 0.0),)),
)


@dataclass
class KeptVectors:
    """An Embedder that asks MiniLM for each text once; without direction for questions while `is_blind`."""

    model: str = "amazon.titan-embed-text-v2:0"
    dimension: int = DIMENSIONS
    is_blind: bool = False
    _minilm: MiniLM = field(default_factory=MiniLM)
    _kept: dict[str, array[float]] = field(default_factory=dict)

    def of(self, model: str | None) -> Embedder | None:
        return self if model in (None, self.model) else None

    def embed(self, texts: Sequence[str], purpose: EmbeddingPurpose, usage: UsageSink) -> list[Embedding]:
        usage(ModelUsage("embed", None, self.model, "ok", TokenUsage(), None, 0.0, len(texts)))
        if new := [text for text in dict.fromkeys(texts) if text not in self._kept]:
            padding = [0.0] * (self.dimension - DIMENSION)
            for text, vector in zip(new, self._minilm.encode(new), strict=True):
                self._kept[text] = array("f", [*vector.tolist(), *padding])
        return [Embedding(self._kept[text], self.is_blind and purpose == "query") for text in texts]


@dataclass(frozen=True)
class Memory:
    """The conversations, remembered, and a way to ask them."""

    store: PostgresStore
    principal: Principal
    vectors: KeptVectors
    told: Sequence[Conversation]

    def remember(self) -> None:
        """Retains every turn as it was said, a session in one request."""
        ports = RetainPorts(self.store, self.vectors, None, NotedWakeups(), SystemClock(), _settings())
        for conversation in self.told:
            for session, turns in groupby(conversation.turns, key=lambda turn: turn.session):
                items = tuple(
                    RetainItem(
                        turn.text,
                        timestamp=turn.at,
                        document_id=f"session_{session}",
                        metadata={"turn": turn.id},
                        tags=(f"session:{session}",),
                    )
                    for turn in turns
                )
                retain(ports, self.principal, conversation.id, RetainRequest(items))

    def asked(
        self, variant: Variant, conversation: Conversation, max_tokens: int, now: datetime | None
    ) -> list[Quality]:
        """The quality of the answer to each of the conversation's questions."""
        settings = _settings(variant.bank)
        self.vectors.is_blind = not variant.has_vectors
        found: list[Quality] = []
        with _changed(variant):
            for question in conversation.questions:
                query = RecallQuery(question.text, max_tokens=max_tokens, now=now)
                answer = recall(
                    self.store, self.vectors, settings, self.principal, conversation.id, query, clock=SystemClock()
                )
                turns = [result.unit.metadata["turn"] for result in answer.results]
                found.append(quality(turns, question.evidence))
        return found


def main(arguments: Sequence[str]) -> int:
    """Prints the tables; the answer is the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench locomo", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="conversations in the form of the LoCoMo data set")
    parser.add_argument("--max-tokens", type=int, default=4096, help="token budget of an answer")
    parser.add_argument("--ablate", action="store_true", help="leave out each arm and each boost in turn")
    parser.add_argument("--at-the-end", action="store_true", help="ask at the time of the last turn, not today")
    chosen = parser.parse_args(arguments)
    with _remembered(conversations(chosen.data)) as memory:
        for number, variant in enumerate((_WHOLE, *_ABLATIONS) if chosen.ablate else (_WHOLE,)):
            found = {
                each.id: memory.asked(
                    variant, each, chosen.max_tokens, each.turns[-1].at if chosen.at_the_end else None
                )
                for each in memory.told
            }
            every = [one for of_one in found.values() for one in of_one]
            if not number:
                _print_whole(memory.told, found)
                print(f"\n{head('ranking')}" if chosen.ablate else "", flush=True)
            if chosen.ablate:
                print(row(variant.title, len(every), mean(every)), flush=True)
    return 0


def _print_whole(told: Sequence[Conversation], found: dict[str, list[Quality]]) -> None:
    print(head("questions of"))
    pairs = [
        (question.category, one) for each in told for question, one in zip(each.questions, found[each.id], strict=True)
    ]
    for category in sorted({category for category, _ in pairs}):
        of_category = [one for name, one in pairs if name == category]
        print(row(category, len(of_category), mean(of_category)))
    for each in told:
        print(row(each.id, len(each.questions), mean(found[each.id])))
    print(row("all", len(pairs), mean([one for _, one in pairs])), flush=True)


@contextmanager
def _remembered(told: Sequence[Conversation]) -> Iterator[Memory]:
    with throwaway_server() as folder:
        admin_url = f"postgresql://postgres@/postgres?host={folder}"
        migrate(admin_url)
        tenant = TenantId(uuid4())
        with psycopg.connect(admin_url, autocommit=True) as admin:
            admin.execute("INSERT INTO hindsight.tenants (tenant_id, name) VALUES (%s, 'bench')", (tenant,))
        store = PostgresStore(lambda: f"postgresql://hindsight_write@/postgres?host={folder}")
        memory = Memory(store, Principal(tenant, "bench"), KeptVectors(), told)
        memory.remember()
        with psycopg.connect(admin_url, autocommit=True) as admin:
            admin.execute("ANALYZE")
        yield memory
        store.close()


@contextmanager
def _changed(variant: Variant) -> Iterator[None]:
    with ExitStack() as until:
        for module, name, value in variant.constants:
            until.enter_context(patch.object(import_module(module), name, value))
        yield


def _settings(bank: tuple[tuple[str, str], ...] = ()) -> Settings:
    return Settings(hindsight_environment="local", bank_defaults=(("enable_observations", "false"), *bank))
