"""What `doctor` makes of what it is told: which quota is a model's, what is wrong and what only nobody may ask."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from botocore.stub import ANY, Stubber

from hindsight_aws.aws.account import AwsAccount, BucketStanding, KeyStanding, ModelStanding, NotKnown
from hindsight_aws.aws.bedrock import BedrockClients
from hindsight_aws.aws.dead_letters import DeadLetters, QueueRefused, SqsDeadLetters
from hindsight_aws.cli import main
from hindsight_aws.cli.preflight.configuration import check_settings
from hindsight_aws.cli.preflight.database import check_database
from hindsight_aws.cli.preflight.finding import Finding, State
from hindsight_aws.cli.preflight.models import call_models, check_models, named_models
from hindsight_aws.cli.preflight.services import ENOUGH, check_account, check_bucket, check_key, check_queues
from hindsight_aws.settings import Settings
from infra.topology import TOPOLOGY

_TITAN = "amazon.titan-embed-text-v2:0"
_SONNET = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
_QUOTAS = {
    "Cross-region model inference tokens per minute for Anthropic Claude Sonnet 4.5 V1": 0.0,
    "Cross-region model inference requests per minute for Anthropic Claude Sonnet 4.5 V1": 500.0,
    "Cross-region model inference tokens per minute for Anthropic Claude Sonnet 4.5 V1 1M Context Length": 7.0,
    "Global cross-region model inference tokens per minute for Anthropic Claude Sonnet 4.5 V1": 7.0,
    "On-demand model inference requests per minute for Anthropic Claude Sonnet 4": 7.0,
    "On-demand model inference requests per minute for Amazon Titan Text Embeddings": 7.0,
    "On-demand model inference requests per minute for Amazon Titan Text Embeddings V2": 6000.0,
    "On-demand model inference tokens per minute for Amazon Titan Text Embeddings V2": 20_000.0,
}


class Account(AwsAccount):
    """An account that answers as the test says; what it says nothing of it may not be asked."""

    def __init__(self, **answers: Any) -> None:
        self._answers = answers

    def _ask(self, service: str, call: str, **arguments: object) -> Any:
        raise NotKnown(f"{service}:{call} was refused (AccessDenied)")

    def _told(self, name: str) -> Any:
        if name not in self._answers:
            raise NotKnown(f"{name} was refused (AccessDenied)")
        return self._answers[name]

    def model(self, model_id: str, *, by_profile: bool = False) -> ModelStanding | None:
        standing: ModelStanding | None = self._told("model")
        return standing

    def is_legacy(self, model_id: str) -> tuple[bool, datetime | None]:
        told: tuple[bool, datetime | None] = self._told("legacy")
        return told

    def profile_models(self, profile_id: str) -> tuple[str, ...] | None:
        models: tuple[str, ...] | None = self._told("profile")
        return models

    def quota(self, service: str, code: str) -> float | None:
        value: float | None = self._told(service)
        return value

    def quotas(self, service: str) -> dict[str, float]:
        return dict(self._told("quotas"))

    def bucket(self, name: str) -> BucketStanding | None:
        standing: BucketStanding | None = self._told("bucket")
        return standing

    def key(self, key: str) -> KeyStanding | None:
        standing: KeyStanding | None = self._told("key")
        return standing

    def who_and_when(self) -> tuple[str, datetime | None]:
        return "123456789012", self._told("now")


def _settings(**changes: object) -> Settings:
    models = {"hindsight_api_llm_model": _SONNET, "hindsight_api_embeddings_model": _TITAN}
    return Settings().model_copy(update=models | changes)


def _states(findings: list[Finding]) -> set[State]:
    return {finding.state for finding in findings}


def test_a_quota_is_a_models_by_its_words_and_by_the_way_it_is_called() -> None:
    account = Account(model=ModelStanding(()), profile=("arn",), quotas=_QUOTAS)

    found = {finding.sentence: finding.state for finding in check_models(_settings(), account)}

    told = {sentence: state for sentence, state in found.items() if "quota" in sentence}
    assert set(told.values()) == {State.OK, State.WARNING, State.WRONG}
    assert [s for s, state in told.items() if state is State.WRONG] == [
        f"The quota “{next(iter(_QUOTAS))}” is 0: ask for more in Service Quotas, or name another model."
    ]
    assert any("V2” is 20,000: workers will wait" in s for s, state in told.items() if state is State.WARNING)
    assert len(told) == 4
    assert not any("is 7" in sentence for sentence in told)


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ({"profile": None, "model": ModelStanding(())}, "has no inference profile us.anthropic"),
        ({"profile": ("arn",), "model": None}, "has no model anthropic.claude-sonnet-4-5-20250929-v1:0 (text)"),
        (
            {"profile": ("arn",), "model": ModelStanding(("the account has no access to it",))},
            "the account has no access to it; open Bedrock, Model access",
        ),
    ],
    ids=["no-profile", "no-model", "no-access"],
)
def test_a_model_that_cannot_be_called_is_wrong_and_the_sentence_says_why(
    answers: dict[str, object], sentence: str
) -> None:
    found = list(check_models(_settings(), Account(**answers, quotas={})))

    assert any(sentence in finding.sentence for finding in found if finding.state is State.WRONG)


def test_a_model_that_ends_or_has_no_price_is_warned_of() -> None:
    account = Account(
        model=ModelStanding(()), profile=("arn",), quotas={}, legacy=(True, datetime(2026, 11, 30, tzinfo=UTC))
    )

    found = list(check_models(_settings(hindsight_api_llm_model="somebody.else-9"), account))

    warned = [finding.sentence for finding in found if finding.state is State.WARNING]
    assert any(sentence.startswith("somebody.else-9 is to be retired on 2026-11-30") for sentence in warned)
    assert any(sentence.startswith("somebody.else-9 has no price") for sentence in warned)


@pytest.mark.parametrize(
    ("reached", "state"),
    [
        (("arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-sonnet-4-5-20250929-v1:0",), State.OK),
        (("arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-lite-v1:0",), State.WRONG),
        (None, State.WRONG),
    ],
    ids=["the-model", "another-model", "no-profile"],
)
def test_an_application_profile_must_lead_to_the_model_it_stands_for(
    reached: tuple[str, ...] | None, state: State
) -> None:
    profile = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3d4"
    account = Account(model=ModelStanding(()), profile=reached, quotas={})

    found = list(check_models(_settings(hindsight_inference_profiles=f"{_SONNET}={profile}"), account))

    assert [finding.state for finding in found if profile in finding.sentence] == [state]


def test_an_account_that_tells_nothing_is_not_known_and_never_wrong() -> None:
    settings = _settings(
        hindsight_bucket="b", hindsight_receipt_key="k", hindsight_api_reranker_model="amazon.rerank-v1:0"
    )
    account = Account()

    findings = [
        *check_models(settings, account), *check_account(account), *check_bucket(settings, account),
        *check_key(settings, account), *check_queues(settings),
    ]  # fmt: skip

    assert _states(findings) == {State.NOT_KNOWN}


@pytest.mark.parametrize(
    ("allowed", "state"), [(10.0, State.WRONG), (ENOUGH - 1.0, State.WARNING), (1000.0, State.OK)], ids=str
)
def test_a_new_account_runs_too_few_functions(allowed: float, state: State) -> None:
    account = Account(**{"lambda": allowed, "vpc": 5000.0, "now": datetime.now(UTC)})

    assert [finding.state for finding in check_account(account)] == [State.OK, state, State.OK]


def test_enough_is_what_all_functions_take_at_once() -> None:
    taken = sum(function.max_concurrency for function in TOPOLOGY.functions)

    assert taken <= ENOUGH < taken + 100


def test_a_clock_that_aws_would_refuse_is_wrong() -> None:
    account = Account(**{"lambda": 1000.0, "vpc": 10.0, "now": datetime.now(UTC) - timedelta(minutes=6)})

    found = list(check_account(account))

    assert [finding.state for finding in found] == [State.OK, State.WRONG, State.OK, State.WARNING]
    assert "The clock here is 3" in found[1].sentence


@pytest.mark.parametrize(
    ("bucket", "key", "states"),
    [
        (None, None, [State.WRONG, State.WRONG]),
        (BucketStanding(False), KeyStanding("PendingDeletion", "SIGN_VERIFY", "ECC_NIST_P256"), [State.WRONG] * 2),
        (BucketStanding(True), KeyStanding("Enabled", "ENCRYPT_DECRYPT", "SYMMETRIC_DEFAULT"), [State.OK, State.WRONG]),
        (BucketStanding(True), KeyStanding("Enabled", "SIGN_VERIFY", "ECC_NIST_P256"), [State.OK, State.OK]),
    ],
    ids=["missing", "open-and-dying", "wrong-key", "sound"],
)
def test_bucket_and_key_are_looked_at(
    bucket: BucketStanding | None, key: KeyStanding | None, states: list[State]
) -> None:
    settings = _settings(hindsight_bucket="b", hindsight_receipt_key="k")
    account = Account(bucket=bucket, key=key)

    found = [*check_bucket(settings, account), *check_key(settings, account)]

    assert [finding.state for finding in found] == states


def test_queues_tell_of_dead_messages_and_of_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    held = {"ingest": DeadLetters(3, 0, "a", "d"), "deliver": DeadLetters(0, 2, "a", "d"), "send": None}

    def look(_: SqsDeadLetters, url: str) -> DeadLetters:
        found = held[url]
        if found is None:
            raise QueueRefused("AWS.SimpleQueueService.NonExistentQueue")
        return found

    monkeypatch.setattr(SqsDeadLetters, "look", look)
    settings = _settings(**{f"hindsight_queue_{name}_url": name for name in held})

    found = {finding.sentence.split()[1].strip(":"): finding.state for finding in check_queues(settings)}

    assert found == {"ingest": State.OK, "deliver": State.WARNING, "send": State.WRONG}


def test_settings_that_say_less_than_they_seem_to_are_warned_of() -> None:
    settings = Settings(
        hindsight_api_jwt_issuer="http://issuer",
        hindsight_api_default_bank_template={"version": 3},
        bank_defaults=(("consolidation_strategies", '[{"scopes": [], "observations_mission": "x"}]'),),
    )

    found = list(check_settings(settings))

    assert [finding.state for finding in found] == [
        State.OK, State.WARNING, State.WRONG, State.WRONG, State.WARNING, State.NOT_KNOWN,
    ]  # fmt: skip
    assert "CONSOLIDATION_STRATEGIES[0] does not do what it seems to say" in found[1].sentence


def test_each_model_is_called_once_when_asked_to() -> None:
    session: Any = boto3.session.Session()

    class Clients(BedrockClients):
        runtime: Any = session.client("bedrock-runtime", region_name="us-east-1")

    with Stubber(Clients.runtime) as stub:
        stub.add_client_error(
            "converse",
            "ValidationException",
            expected_params={"modelId": _SONNET, "messages": ANY, "inferenceConfig": ANY, "toolConfig": ANY},
        )
        stub.add_response("invoke_model", {"body": b"{}", "contentType": "application/json"})
        found = list(call_models(_settings(), Clients("us-east-1")))

    assert [finding.state for finding in found] == [State.WRONG, State.OK]
    assert "refused a call, ValidationException" in found[0].sentence


def test_one_model_for_several_tasks_is_named_once_and_none_needs_no_text_model() -> None:
    assert named_models(_settings(hindsight_api_reflect_llm_model=_SONNET)) == {
        _SONNET: "text, reflect",
        _TITAN: "embeddings",
    }
    assert named_models(_settings(hindsight_api_llm_provider="none")) == {_TITAN: "embeddings"}


def test_a_database_for_which_no_token_can_be_signed_is_not_known() -> None:
    settings = _settings(hindsight_database_url="postgresql:///hindsight", hindsight_environment="cloud")

    assert [finding.state for finding in check_database(settings, "")] == [State.NOT_KNOWN]


def test_a_laptop_is_asked_nothing_of_an_account(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDSIGHT_ENVIRONMENT", "local")

    code = main(("doctor",))

    assert code == 0
    assert "A laptop" in capsys.readouterr().out
