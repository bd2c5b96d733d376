"""The transfer door: wake-ups from SQS; one whose handling crashed comes again, and none of its neighbours.

Calls jobs/transfer with the parts that runtime.py builds.
"""

from typing import Any

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from hindsight_aws.jobs.message import each
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.jobs.transfer import work
from hindsight_aws.runtime import Runtime

_runtime = Runtime.from_environment()
_processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
_LAST_CALL_S = 15.0


@_runtime.watched("transfer")
def handler(event: dict[str, Any], context: LambdaContext) -> Any:
    """Handles each message on its own; answers `batchItemFailures`."""

    def handle(record: SQSRecord) -> Outcome:
        seconds = context.get_remaining_time_in_millis() / 1000 - _LAST_CALL_S
        return work(_runtime.transfer_ports, _runtime.reembedding_ports, record.body, seconds)

    return process_partial_response(event=event, record_handler=each(handle), processor=_processor, context=context)
