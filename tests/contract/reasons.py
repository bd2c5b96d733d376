"""What docs/compatibility.md says that no test can find out: notes, deliberate differences and what is not here."""

from __future__ import annotations

from collections.abc import Mapping

HEAD = """# Compatibility with Hindsight 1.1.0

Made by `python -m tests.contract.compatibility > docs/compatibility.md`; a test fails when this page and the code
differ. `tests/contract/test_every_operation.py` calls every operation of the published contract with valid input on the
real app and holds each answer against the published shape: every required field is there.

Clients of Hindsight work unchanged against this service: give them its URL and a key. Our own document, with prose,
examples and what is ours besides, is [openapi.json](openapi.json); every deployment shows it at `/docs`.
"""

NOT_YET: frozenset[str] = frozenset()
"""Operations that have no route so far; a test fails when one of them has got it."""

_ALWAYS = "older clients ask for it; the original has retired it"
NOTES: Mapping[str, str] = {
    "get_bank_profile": f"answers 200: {_ALWAYS}",
    "update_bank_disposition": f"answers 200: {_ALWAYS}",
    "add_bank_background": f"answers 200: {_ALWAYS}",
    "get_bank_attachment": "retain takes text, and files/retain makes text of files; no bytes are kept",
    "list_llm_requests": "no text of a model call is kept; `GET usage` counts calls, tokens and USD",
    "llm_request_stats": "likewise",
    "get_audit_log": "says who did what to which bank, and how it ended; bodies are not kept",
    "regenerate_entity_observations": "retired there as well",
    "export_documents_sync_removed": "retired there as well",
    "get_entity": "`observations` is empty, as there: recall or reflect tells about an entity",
    "reflect": "a run of more than 25 s answers 503 with `Retry-After`; the same request then joins it",
    "retain_memories": "a sync call that would not finish in time answers `async: true` with its operation",
    "metrics_endpoint_metrics_get": "of the execution environment that answers; the account's are in CloudWatch",
    "test_bank_llm": "404 unless HINDSIGHT_API_ENABLE_BANK_LLM_HEALTH is on, as there",
}

OTHERWISE: tuple[tuple[str, str, str, str], ...] = (
    (
        "reflect that takes longer than the gateway waits",
        "the connection stays open",
        "503 with `Retry-After` and the operation's id; an identical request joins the run",
        "an HTTP API hangs up after 30 s; the official client asks again by itself",
    ),
    (
        "observations of several scopes",
        "a pass reads, edits and deletes what lies in supersets of its scope",
        "scopes are equal or they are not",
        "a company-wide pass must not touch what belongs to one person",
    ),
    (
        "consolidation's deletes",
        "taken as the model gives them",
        "only where the evidence moves to an observation that was shown",
        "a bad reply must not lose memory",
    ),
    (
        "an id that is no UUID",
        "500, 422 or 400",
        "400; of webhooks 422",
        "a caller's mistake is not a failure of the service",
    ),
    (
        "POST /mcp",
        "sessions by default",
        "no sessions: every call stands alone",
        "functions keep nothing between calls",
    ),
    ("GET /mcp", "200 `{}`", "405", "the protocol says so where there is no stream to listen to"),
    (
        "deleting one memory",
        "by its document or its bank alone",
        "`DELETE …/memories/{memory_id}` too",
        "somebody asks that one thing be forgotten",
    ),
)
"""What, there, here, why."""

ABSENT: tuple[tuple[str, str], ...] = (
    ("Oracle", "One database is kept well: Postgres, whose row-level security keeps tenants apart."),
    ("An index for each bank", "Thousands of banks would cost planning time in every query; see the figures in ADR 2."),
    ("A schema for each tenant", "Tenants are rows under forced row-level security: migrations run once."),
    ("Other model providers", "All model traffic goes through Bedrock, or what speaks its protocol: one way to bill."),
    ("A local cross-encoder", "Rerank models of Bedrock, where the region has one; else fusion alone."),
    ("Docker images and Helm charts", "`cdk deploy` into an account, `make run` on a machine; there is no server."),
    ("Its web UI", "It can be pointed at this URL; this service has no pages but `/docs`."),
    (
        "Extensions loaded from Python",
        "Keys, tags and limits are settings; no code of others runs in our functions.",
    ),
    ("Attachments in memories", "Text is kept, bytes are not: files become text by `files/retain`."),
    ("The log of model requests", "It would hold everything that was ever said; the ledger counts without texts."),
    ("Sessions of MCP", "Functions keep nothing between calls; every official client works without."),
    ("Worker processes and their queue tables", "Rows are the work and SQS wakes functions: ADR 1."),
)
"""What, why."""

OLDER_CLIENTS = """
## Older clients

| client | what it needs | here |
|---|---|---|
| Python 1.1.0 | the whole contract | its main flows run in `tests/contract/test_official_client.py` |
| Python and TypeScript 0.9.1 | `GET` and `PUT …/profile`, `POST …/background` | answered 200 |
| the control plane 0.9.1 | `features` of `/version` | a feature is true exactly where its routes answer |
| MCP, with a handshake and without | `/mcp` and `/mcp/` alike | `tests/contract/test_mcp_client.py` |
"""
