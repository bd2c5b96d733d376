"""The tools `search_mental_models` and `read_mental_models`: prepared pages, as JSON with real ids.

Called by toolbox.py; reads pages through ports/mental_models.py under the question's own tag filter.
"""

from __future__ import annotations

from hindsight_aws.errors import NotFound
from hindsight_aws.ports.mental_models import FoundPage
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.ports.store import Transaction
from hindsight_aws.reflect.conversation import calls
from hindsight_aws.reflect.tools.lookup import ToolContext, minute, without_blanks
from hindsight_aws.text.tokens import count_tokens

SNIPPET_CHARACTERS = 280
_RESULTS = 5
_READ_TOKENS = 6_000
_WHOLE_TOKENS = 4_000


def search_mental_models(context: ToolContext, said: JsonObject) -> JsonObject:
    """`{query, mental_models}`, nearest first: the best whole if it is not too long, of others the beginning.

    Raises: WrongArgument, and what an embedder raises.
    """
    query, limit = calls.query(said), calls.results(said, _RESULTS)
    principal, excluded = context.job.principal, context.job.request.excluded_pages
    with context.ports.store.transaction(principal.tenant_id) as tx:
        bank = tx.banks.by_id(context.bank_id)
    if bank is None:
        raise NotFound("the bank is gone")
    wanted = context.ports.searches.vector(principal, bank, query, context.vector_of(query))
    found: list[FoundPage] = []
    if wanted is not None:
        with context.ports.store.snapshot(principal.tenant_id) as tx:
            found = tx.mental_models.search(context.bank_id, wanted, context.pages, excluded, limit)
    pages: list[JsonValue] = [_found(page, is_best=place == 0) for place, page in enumerate(found)]
    return {"query": query, "mental_models": pages}


def read_mental_models(context: ToolContext, said: JsonObject) -> JsonObject:
    """`{mental_models, not_read}`: the first page whatever its length, others as far as the budget goes.

    A page that is not there, or not for this question or caller, is not read, as is one for which there is no room.

    Raises: WrongArgument.
    """
    wanted = calls.texts(said, "mental_model_ids")
    left = calls.tokens(said, "max_tokens", _READ_TOKENS, context.room)
    with context.ports.store.snapshot(context.job.principal.tenant_id) as tx:
        found = {page.id: page for page in read_pages(tx, context, wanted)}
    read: list[JsonValue] = []
    not_read: list[JsonValue] = []
    for page_id in wanted:
        page = found.get(page_id)
        size = 0 if page is None else count_tokens(page.content)
        if page is None or not page.content or (read and size > left):
            not_read.append(page_id)
            continue
        left -= size
        read.append(_record(page, {"content": page.content}))
    return {"mental_models": read, "not_read": not_read}


def read_pages(tx: Transaction, context: ToolContext, ids: tuple[str, ...]) -> list[FoundPage]:
    """The pages among these ids that this question may read."""
    return tx.mental_models.read(context.bank_id, ids, context.pages, context.job.request.excluded_pages)


def _found(page: FoundPage, *, is_best: bool) -> JsonObject:
    is_short = len(page.content) <= SNIPPET_CHARACTERS
    if is_short or (is_best and count_tokens(page.content) <= _WHOLE_TOKENS):
        body: JsonObject = {"content": page.content}
    else:
        body = {"snippet": page.content[:SNIPPET_CHARACTERS], "content_chars": len(page.content)}
    relevance = None if page.relevance is None else round(page.relevance, 4)
    state: JsonObject = {"relevance": relevance, "is_stale": page.is_stale, "staleness_reason": page.staleness_reason}
    return _record(page, {**body, **state})


def _record(page: FoundPage, more: JsonObject) -> JsonObject:
    told: JsonObject = {"id": page.id, "name": page.name, "tags": list(page.tags)}
    return without_blanks({**told, "updated_at": minute(page.updated_at), **more})
