"""Whether the models that the settings name can be called, and how much of them the account may use a minute.

Asks the account; makes a call of a few tokens where it is told to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from hindsight_aws.aws.account import AwsAccount, NotKnown
from hindsight_aws.aws.bedrock.capabilities import capability_of
from hindsight_aws.cli.preflight.finding import Finding, not_known, ok, warning, wrong
from hindsight_aws.ports.model_gateway import TokenUsage
from hindsight_aws.settings import Settings
from hindsight_aws.usage.prices import base_model, usd_for

_ACCESS: Final = "open Bedrock, Model access, in this region"
_ANOTHER: Final = "name another model, or see in docs/model-contract.md what is asked of one"
_LEAST_TOKENS: Final = 100_000
"""A consolidation call reads some thousands of tokens and reserves its output: less feeds a handful of workers."""
_LEAST_REQUESTS: Final = 20
_DATE: Final = re.compile(r"\d{8}")


def named_models(settings: Settings) -> Mapping[str, str]:
    """Each model that the settings name, with the tasks it is named for."""
    of_text = {
        "text": settings.hindsight_api_llm_model,
        "extraction": settings.hindsight_api_retain_llm_model,
        "consolidation": settings.hindsight_api_consolidation_llm_model,
        "reflect": settings.hindsight_api_reflect_llm_model,
    }
    named: dict[str, list[str]] = {}
    tasks = {} if settings.hindsight_api_llm_provider == "none" else of_text
    for task, model in {**tasks, "embeddings": settings.hindsight_api_embeddings_model}.items():
        if model:
            named.setdefault(model, []).append(task)
    return {model: ", ".join(of) for model, of in named.items()}


def check_models(settings: Settings, account: AwsAccount) -> Iterator[Finding]:
    """Region, access and quotas of each model; what a profile reaches."""
    if settings.hindsight_api_llm_provider == "none":
        yield ok("No text model is configured: retain stores chunks as they are.")
    for model, tasks in named_models(settings).items():
        yield _access(account, model, tasks, settings.aws_region)
        yield from _future(account, model)
    for model, profile in settings.inference_profiles.items():
        yield _profile(account, model, profile)
    if settings.hindsight_api_reranker_model:
        elsewhere = AwsAccount(settings.hindsight_rerank_region) if settings.hindsight_rerank_region else account
        region = settings.hindsight_rerank_region or settings.aws_region
        yield _access(elsewhere, settings.hindsight_api_reranker_model, "rerank", region)
    try:
        quotas = account.quotas("bedrock")
    except NotKnown as why:
        yield not_known(f"How much of each model the account may use: {why}.")
        return
    for model in named_models(settings):
        yield from _quotas(quotas, model)


def call_models(settings: Settings, clients: Any) -> Iterator[Finding]:
    """Asks each text model for a word, by a tool as tasks do, and the embedding model for one vector."""
    from botocore.exceptions import BotoCoreError, ClientError

    for model, tasks in named_models(settings).items():
        try:
            if "embeddings" in tasks.split(", "):
                clients.runtime.invoke_model(
                    modelId=clients.address(model),
                    body=json.dumps({"inputText": "hello", "dimensions": 512, "normalize": True}),
                )
            else:
                clients.runtime.converse(
                    modelId=clients.address(model),
                    messages=[{"role": "user", "content": [{"text": "Say hello."}]}],
                    inferenceConfig={"maxTokens": 64},
                    **_forced(model),
                )
        except ClientError as refused:
            code = str(refused.response.get("Error", {}).get("Code"))
            cure = f"{_ACCESS}, and look at the role" if "AccessDenied" in code else _ANOTHER
            yield wrong(f"{model} ({tasks}) refused a call, {code}: {cure}.")
        except BotoCoreError as broken:
            yield wrong(f"{model} ({tasks}) could not be called: {broken}.")
        else:
            yield ok(f"{model} ({tasks}) answers.")


def _forced(model: str) -> dict[str, object]:
    """A tool that must be used, where our table says that the model can be told so: a structured task needs it."""
    if not capability_of(model).forced_tool:
        return {}
    schema = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
    tool = {"toolSpec": {"name": "say", "description": "Says a word.", "inputSchema": {"json": schema}}}
    return {"toolConfig": {"tools": [tool], "toolChoice": {"tool": {"name": "say"}}}}


def _access(account: AwsAccount, model: str, tasks: str, region: str) -> Finding:
    base = base_model(model)
    is_profile = base != model and ":foundation-model/" not in model
    try:
        if is_profile and account.profile_models(model) is None:
            return wrong(f"{region} has no inference profile {model} ({tasks}): name one of this region's geography.")
        standing = account.model(base, by_profile=is_profile)
    except NotKnown as why:
        return not_known(f"Whether {model} ({tasks}) may be called in {region}: {why}. `--call-models` finds out.")
    if standing is None:
        return wrong(f"{region} has no model {base} ({tasks}): name another, or deploy to a region that has it.")
    if standing.obstacles:
        return wrong(f"{model} ({tasks}) cannot be called in {region}: {'; '.join(standing.obstacles)}; {_ACCESS}.")
    return ok(f"{model} ({tasks}) may be called in {region}.")


def _profile(account: AwsAccount, model: str, profile: str) -> Finding:
    """Whether an application inference profile is there and leads to the model that it is to stand for."""
    try:
        reached = account.profile_models(profile)
    except NotKnown as why:
        return not_known(f"What {profile} leads to: {why}.")
    if reached is None:
        return wrong(f"There is no inference profile {profile} for {model}: make it, or leave it out of the option.")
    if base_model(model) not in {base_model(arn) for arn in reached}:
        return wrong(f"{profile} leads to {', '.join(sorted(map(base_model, reached)))}, and is named for {model}.")
    return ok(f"{model} is called through {profile}.")


def _future(account: AwsAccount, model: str) -> Iterator[Finding]:
    """What will trouble an operator later: a model that ends, and one whose cost nobody can reckon."""
    try:
        is_legacy, ends_at = account.is_legacy(base_model(model))
    except NotKnown:
        is_legacy, ends_at = False, None  # whether it may be called at all is not known either, and is said
    if is_legacy or ends_at is not None:
        when = f" on {ends_at:%Y-%m-%d}" if ends_at is not None else ""
        yield warning(f"{model} is to be retired{when}: choose its successor, and try that with `make smoke`.")
    if usd_for(model, TokenUsage(input=1)) is None:
        yield warning(f"{model} has no price in our table: tenants with a limit in USD are not served by it.")


def _quotas(quotas: Mapping[str, float], model: str) -> Iterator[Finding]:
    for unit, least in (("tokens per minute", _LEAST_TOKENS), ("requests per minute", _LEAST_REQUESTS)):
        found = [(name, value) for name, value in quotas.items() if unit in name.lower() and _is_of(name, model)]
        for name, value in found:
            if value <= 0:
                yield wrong(f"The quota “{name}” is 0: ask for more in Service Quotas, or name another model.")
            elif value < least:
                yield warning(
                    f"The quota “{name}” is {value:,.0f}: workers will wait for it; ask for {least:,} or more."
                )
            else:
                yield ok(f"The quota “{name}” is {value:,.0f}.")
        if not found:
            yield not_known(f"The {unit} of {model}: no quota of the account is named for it.")


def _is_of(quota: str, model: str) -> bool:
    """Whether a quota's name speaks of that model and the way it is called: on demand, by profile, by a global one."""
    name = quota.lower()
    base = base_model(model)
    way = "global cross-region" if model.startswith("global.") else "on-demand" if base == model else "cross-region"
    if not name.startswith(way) or ("1m context" in name):
        return False
    return all(any(_says(word, said) for said in re.split(r"[\s/(),]+", name)) for word in _words(base))


def _says(word: str, said: str) -> bool:
    return said == word or (word.isalpha() and said.startswith(word))


def _words(model: str) -> list[str]:
    """The words of a model id as quotas spell them: `anthropic.claude-sonnet-4-5-20250929-v1:0` ends in sonnet, 4.5."""
    parts = re.split(r"[.:-]", model.partition(":")[0].lower())
    kept = [part for part in parts if not _DATE.fullmatch(part) and part != "v1"]
    joined = re.sub(r"(?<=\d) (?=\d+\b)", ".", " ".join(kept))
    return joined.split()
