"""The consolidation door: a wake-up from SQS for one scope, reported back only when handling it crashed.

Calls jobs/consolidate with the parts that runtime.py builds.
"""

from typing import Any

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from hindsight_aws.jobs.consolidate import consolidate
from hindsight_aws.jobs.message import each
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.runtime import Runtime

_runtime = Runtime.from_environment()
_processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)


@_runtime.watched("consolidate")
def handler(event: dict[str, Any], context: LambdaContext) -> Any:
    """Handles each message on its own; answers `batchItemFailures`."""

    def handle(record: SQSRecord) -> Outcome:
        return consolidate(
            _runtime.consolidation_ports,
            record.body,
            lambda: context.get_remaining_time_in_millis() / 1000,
            _runtime.pages_door,
        )

    return process_partial_response(event=event, record_handler=each(handle), processor=_processor, context=context)
