"""The ingest door: wake-ups from SQS; one whose handling crashed comes again, and none of its neighbours.

Calls jobs/ingest, or by the message's kind jobs/links or jobs/erasures, with the parts that runtime.py builds.
"""

from typing import Any

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from hindsight_aws.jobs.erasures import carry_erasure_on, is_about_erasure
from hindsight_aws.jobs.ingest import ingest
from hindsight_aws.jobs.links import is_about_links, tend_links
from hindsight_aws.jobs.message import each
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.runtime import Runtime

_runtime = Runtime.from_environment()
_processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
_LAST_CALL_S = 15.0
_LAST_STATEMENT_S = 60.0


@_runtime.watched("ingest")
def handler(event: dict[str, Any], context: LambdaContext) -> Any:
    """Handles each message on its own; answers `batchItemFailures`."""

    def handle(record: SQSRecord) -> Outcome:
        if is_about_links(record.body):
            return tend_links(_runtime.link_ports, record.body, lambda: context.get_remaining_time_in_millis() / 1000)
        if is_about_erasure(record.body):
            return carry_erasure_on(_runtime.erasure_ports, record.body, _seconds_for_rows(context))
        deliveries = int(record.attributes.approximate_receive_count)
        return ingest(_runtime.retain_ports, record.body, _seconds_for_work(context), deliveries)

    return process_partial_response(event=event, record_handler=each(handle), processor=_processor, context=context)


def _seconds_for_rows(context: LambdaContext) -> float:
    """How long rows may be removed: the last statement must still end in this invocation."""
    return context.get_remaining_time_in_millis() / 1000 - _LAST_STATEMENT_S


def _seconds_for_work(context: LambdaContext) -> float:
    """How long new model calls may be started: the last one must still end, and be kept, in this invocation."""
    remaining = context.get_remaining_time_in_millis() / 1000
    return remaining - _LAST_CALL_S - min(_runtime.settings.hindsight_api_llm_timeout, remaining / 2)
