"""The deployed system is the table's: no function, route, queue, schedule or permission more, less or different."""

import json
from fnmatch import fnmatchcase

import pytest

from infra.cloud.naming import rate
from infra.topology import (
    DEFAULT_ROUTE,
    RECEIPT_KEY_SETTING,
    TOPOLOGY,
    DatabaseRole,
    DeploymentTrigger,
    FileUse,
    Function,
    ModelUse,
    QueueTrigger,
    ScheduleTrigger,
    WorkflowTrigger,
    workflow_setting,
)
from tests.infra.templates import Template, text

_ACTIONS = {
    FileUse.PUT: "Put",
    FileUse.GET: "Get",
    FileUse.DELETE: "Delete",
    FileUse.KEEP: "Put",
    FileUse.FORGET: "Delete",
}
_PREFIXES = dict.fromkeys(FileUse, "tenants/") | {FileUse.KEEP: "kept/", FileUse.FORGET: "kept/"}

pytestmark = [pytest.mark.synth, pytest.mark.timeout(900)]


@pytest.fixture(params=TOPOLOGY.functions, ids=lambda entry: str(entry.name))
def entry(request: pytest.FixtureRequest) -> Function:
    """Each function of the table in turn."""
    function = request.param
    assert isinstance(function, Function)
    return function


def test_there_is_one_function_for_each_entry_and_one_of_the_cdk_for_each_deployment_trigger(service: Template) -> None:
    described = [properties["Description"] for properties in service.of_type("AWS::Lambda::Function").values()]

    ours = {name.removeprefix("hindsight-aws ") for name in described if name.startswith("hindsight-aws ")}
    others = [name for name in described if not name.startswith("hindsight-aws ")]

    assert ours == {function.name for function in TOPOLOGY.functions}
    assert len(others) == len(list(TOPOLOGY.each(DeploymentTrigger)))


def test_a_function_has_the_limits_and_handler_of_its_entry(service: Template, entry: Function) -> None:
    properties = service.function(entry.name)[1]

    assert properties["Timeout"] == entry.timeout
    assert properties["MemorySize"] == entry.memory
    assert properties["Handler"] == entry.handler
    assert properties["Runtime"] == "python3.13"
    assert properties["Architectures"] == ["arm64"]
    assert len(properties["Layers"]) == len(entry.layers)


def test_a_functions_concurrency_is_bounded_where_it_is_invoked(service: Template, entry: Function) -> None:
    reserved = service.function(entry.name)[1].get("ReservedConcurrentExecutions")

    is_consumer = any(isinstance(trigger, QueueTrigger) for trigger in entry.triggers)

    assert reserved == (None if is_consumer else entry.max_concurrency)


def test_only_what_wakes_itself_may_be_invoked_by_its_own_messages_without_end(
    service: Template, entry: Function
) -> None:
    """Lambda takes more than sixteen rounds for a mistake, and gives the message to the dead letters."""
    allowed = service.function(entry.name)[1].get("RecursiveLoop")

    wakes_itself = {"ingest", "convert", "transfer", "consolidate", "deliver", "send"}
    assert allowed == ("Allow" if entry.name in wakes_itself else None)


def test_functions_that_people_wait_for_start_from_a_snapshot(service: Template, entry: Function) -> None:
    snapshot = service.function(entry.name)[1].get("SnapStart")

    assert snapshot == ({"ApplyOn": "PublishedVersions"} if entry.is_api else None)


def test_a_function_signs_in_as_its_database_role_and_no_other(service: Template, entry: Function) -> None:
    variables = service.function(entry.name)[1]["Environment"]["Variables"]
    address = text(variables.get("HINDSIGHT_DATABASE_URL", ""))
    role = service.role(entry.name)

    tokens = service.allowed(role, "rds-db:")
    secrets = service.allowed(role, "secretsmanager:")

    if entry.database_role is None:
        assert (address, tokens, secrets) == ("", set(), set())
        return
    assert "sslmode=verify-full" in address
    if entry.database_role is DatabaseRole.MIGRATE:
        assert tokens == set()
        assert len(secrets) == 1
    else:
        user = entry.database_role.database_user
        assert address.startswith(f"postgresql://{user}@")
        assert {arn.rsplit("/", 1)[-1] for arn in tokens} == {user}
        assert secrets == set()


def test_a_function_is_told_the_queues_and_workflows_it_may_use(service: Template, entry: Function) -> None:
    variables = service.function(entry.name)[1]["Environment"]["Variables"]

    told = {name for name in variables if name.startswith(("HINDSIGHT_QUEUE_", "HINDSIGHT_WORKFLOW_"))}

    assert variables["HINDSIGHT_ENVIRONMENT"] == "cloud"
    assert told == {TOPOLOGY.queue(name).url_setting for name in entry.sends_to} | {
        workflow_setting(name) for name in entry.starts
    }
    assert dict(entry.environment).items() <= variables.items()


def test_a_function_may_send_to_its_queues_only(service: Template, entry: Function) -> None:
    role = service.role(entry.name)
    variables = service.function(entry.name)[1]["Environment"]["Variables"]
    named = {f"<{variables[TOPOLOGY.queue(name).url_setting]['Ref']}.Arn>" for name in entry.sends_to}

    allowed = service.allowed(role, "sqs:SendMessage")

    is_scheduled = any(isinstance(trigger, ScheduleTrigger) for trigger in entry.triggers)
    assert allowed - named == (_undelivered(service) if is_scheduled else set())
    assert named <= allowed


def test_a_function_may_do_with_files_what_the_table_says_and_knows_the_bucket(
    service: Template, entry: Function
) -> None:
    role, properties = service.role(entry.name), service.function(entry.name)[1]
    granted = {
        action
        for statement in service.statements(role)
        for action in statement["Action"]
        if action.startswith("s3:") and statement["Effect"] == "Allow"
    }

    assert granted == {f"s3:{_ACTIONS[use]}Object" for use in entry.files}
    assert service.allowed(role, "s3:") == {f"<HindsightDataFilesArn>/{_PREFIXES[use]}*" for use in entry.files}
    assert ("HINDSIGHT_BUCKET" in properties["Environment"]["Variables"]) == bool(entry.files)
    groups = properties.get("VpcConfig", {"SecurityGroupIds": []})["SecurityGroupIds"]
    assert len(groups) == (0 if entry.internet else 2 if entry.files else 1)


def test_only_who_signs_may_use_the_receipt_key_and_for_nothing_else(service: Template, entry: Function) -> None:
    keys = service.allowed(service.role(entry.name), "kms:Sign")

    assert len(keys) == int(entry.signs)
    assert (RECEIPT_KEY_SETTING in service.function(entry.name)[1]["Environment"]["Variables"]) == entry.signs


def test_a_function_may_call_models_only_of_its_uses(service: Template, entry: Function) -> None:
    models = service.allowed(service.role(entry.name), "bedrock:InvokeModel")

    asked = {arn.rsplit("/", 1)[-1] for arn in models}

    is_embedder = {"amazon.titan-embed-text-v2:0"} if ModelUse.EMBEDDINGS in entry.models else set()
    texts = {name for name in asked if "anthropic.claude" in name}
    assert asked - texts == is_embedder
    assert bool(texts) == (ModelUse.TEXT in entry.models)
    assert not any("*" in arn for arn in models)


def test_routes_lead_where_the_table_says(service: Template) -> None:
    integrations = service.of_type("AWS::ApiGatewayV2::Integration")
    routes = service.of_type("AWS::ApiGatewayV2::Route").values()

    deployed = {}
    for route in routes:
        integration = route["Target"]["Fn::Join"][1][1]["Ref"]
        assert integrations[integration]["PayloadFormatVersion"] == "2.0"
        deployed[route["RouteKey"]] = integrations[integration]["IntegrationUri"]

    assert deployed == {
        (DEFAULT_ROUTE if route.path == DEFAULT_ROUTE else f"{route.method} {route.path}"): {
            "Ref": service.alias(function.name)
        }
        for function in TOPOLOGY.functions
        for route in function.routes
    }


def test_the_api_may_invoke_a_function_for_each_of_its_routes(service: Template, entry: Function) -> None:
    """API Gateway says for which route it asks: stage, method and path, and of the default route the stage alone."""
    alias = service.alias(entry.name)
    [api] = service.of_type("AWS::ApiGatewayV2::Api")
    allowed = [
        text(permission["SourceArn"]).rsplit(":", 1)[-1]
        for permission in service.of_type("AWS::Lambda::Permission").values()
        if permission["Principal"] == "apigateway.amazonaws.com" and permission["FunctionName"] == {"Ref": alias}
    ]
    asked = {
        f"<{api}>/$default/{DEFAULT_ROUTE if route.path == DEFAULT_ROUTE else route.method + route.path}"
        for route in entry.routes
    }

    refused = {name for name in asked if not any(fnmatchcase(name, pattern) for pattern in allowed)}

    assert refused == set()
    assert bool(allowed) == bool(entry.routes)


def test_the_api_is_on_the_default_stage_logged_and_throttled(service: Template) -> None:
    [stage] = service.of_type("AWS::ApiGatewayV2::Stage").values()

    logged = json.loads(stage["AccessLogSettings"]["Format"])

    assert stage["StageName"] == "$default"
    assert stage["DefaultRouteSettings"]["ThrottlingRateLimit"] > 0
    assert "$context.path" not in logged.values()


def test_function_urls_are_those_of_the_table(service: Template) -> None:
    urls = service.of_type("AWS::Lambda::Url").values()

    deployed = {url["TargetFunctionArn"]["Fn::GetAtt"][0] for url in urls}

    assert deployed == {service.function(entry.name)[0] for entry in TOPOLOGY.functions if entry.function_url}
    assert {url["Qualifier"] for url in urls} == {"live"}


def test_queues_wake_their_consumers_with_the_tables_batches(service: Template) -> None:
    mappings = service.of_type("AWS::Lambda::EventSourceMapping").values()

    consumers = list(TOPOLOGY.each(QueueTrigger))

    assert len(mappings) == len(consumers)
    for function, trigger in consumers:
        [mapping] = [found for found in mappings if service.alias(function.name) in text(found["FunctionName"])]
        assert mapping["BatchSize"] == trigger.batch_size
        assert mapping["ScalingConfig"] == {"MaximumConcurrency": trigger.max_concurrency}
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        assert mapping.get("MaximumBatchingWindowInSeconds", 0) == trigger.window
        assert text(mapping["EventSourceArn"]) in service.allowed(service.role(function.name), "sqs:ReceiveMessage")


def test_schedules_tick_as_the_table_says(service: Template) -> None:
    schedules = service.of_type("AWS::Scheduler::Schedule").values()

    deployed = {(found["Target"]["Arn"]["Ref"], found["ScheduleExpression"]) for found in schedules}

    assert deployed == {
        (service.alias(function.name), rate(trigger.every)) for function, trigger in TOPOLOGY.each(ScheduleTrigger)
    }
    assert {text(found["Target"]["DeadLetterConfig"]["Arn"]) for found in schedules} <= _undelivered(service)


def test_workflows_invoke_their_tasks_and_nothing_else(service: Template) -> None:
    machines = service.of_type("AWS::StepFunctions::StateMachine").values()

    invoked = {reference["Ref"] for machine in machines for reference in machine["DefinitionSubstitutions"].values()}

    assert len(machines) == len(TOPOLOGY.workflows)
    assert invoked == {service.alias(function.name) for function, _ in TOPOLOGY.each(WorkflowTrigger)}
    for machine in machines:
        own = {text(reference) for reference in machine["DefinitionSubstitutions"].values()}
        assert service.allowed(machine["RoleArn"]["Fn::GetAtt"][0], "lambda:") == own
        assert machine["LoggingConfiguration"]["IncludeExecutionData"] is False


def test_a_function_may_start_its_workflows_only(service: Template, entry: Function) -> None:
    variables = service.function(entry.name)[1]["Environment"]["Variables"]

    allowed = service.allowed(service.role(entry.name), "states:")

    assert allowed == {f"<{variables[workflow_setting(name)]['Ref']}>" for name in entry.starts}


def test_a_database_that_takes_the_place_of_another_is_migrated_too(service: Template) -> None:
    [schema] = service.of_type("Custom::Schema").values()
    [connects] = service.allowed(service.role("admin"), "rds-db:")

    place, _, name = text(schema["Database"]).rpartition("/")

    assert name == "hindsight"
    assert f":dbuser:{place}/" in connects


def test_no_alias_moves_before_the_schema(service: Template, entry: Function) -> None:
    [schema] = service.of_type("Custom::Schema")

    waits_for = service.resources[service.alias(entry.name)].get("DependsOn", [])

    is_first = any(isinstance(trigger, DeploymentTrigger) for trigger in entry.triggers)
    assert (schema in waits_for) != is_first


def _undelivered(service: Template) -> set[str]:
    return {f"<{name}.Arn>" for name in service.of_type("AWS::SQS::Queue") if name.startswith("Undelivered")}
