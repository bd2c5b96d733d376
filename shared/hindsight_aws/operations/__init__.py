"""What a caller may do to operations: cancel, retry, and remove their records.

Called by the API; calls the store ports and the wake-ups.  `again`, `attempt` and `written` are for every use case
that writes.
"""

from hindsight_aws.operations.cancel import cancel
from hindsight_aws.operations.remove import remove
from hindsight_aws.operations.retry import retry

__all__ = ["cancel", "remove", "retry"]
