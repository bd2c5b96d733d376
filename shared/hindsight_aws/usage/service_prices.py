"""What AWS asks for everything that is no model: list prices in USD, us-east-1.  Pure.

Called by usage/month.py.  Regions and contracts differ, and the free tier is left out.  Lambda's and SnapStart's are
those of aws.amazon.com/lambda/pricing as quoted by others on 2026-11-30; the rest are commonly quoted list prices.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final

_MILLION: Final = 1_000_000

LAMBDA_GB_SECOND: Final = Decimal("0.0000133334")
"""arm64, first tier."""
SNAPSHOT_GB_SECOND: Final = Decimal("0.0000015046")
"""Of the cache of a SnapStart version, for as long as the version exists."""
LAMBDA_REQUEST: Final = Decimal("0.20") / _MILLION
HTTP_REQUEST: Final = Decimal("1.00") / _MILLION
"""An HTTP API's, for each started 512 KB."""
QUEUE_REQUEST: Final = Decimal("0.40") / _MILLION
"""A standard queue's; a message takes three: sent, received, deleted."""
WORKFLOW_TRANSITION: Final = Decimal("0.025") / 1000
"""A standard workflow's."""
ACU_HOUR: Final = Decimal("0.12")
DATABASE_GB_MONTH: Final = Decimal("0.10")
DATABASE_IO: Final = Decimal("0.20") / _MILLION
LOG_GB: Final = Decimal("0.50")
METRIC_MONTH: Final = Decimal("0.30")
"""A custom metric's, of the first ten thousand."""
ALARM_MONTH: Final = Decimal("0.10")
"""A standard alarm's, for each metric it reads."""
DASHBOARD_MONTH: Final = Decimal("3.00")
"""Of a dashboard beyond an account's first three."""
KEY_MONTH: Final = Decimal("1.00")
SECRET_MONTH: Final = Decimal("0.40")
ENDPOINT_HOUR: Final = Decimal("0.01")
"""An interface endpoint's, in each of its zones."""
NAT_INSTANCE_HOUR: Final = Decimal("0.0042") + Decimal("0.005")
"""A t4g.nano with its public address."""
HOURS: Final = 730
"""Of a month."""
