"""Looks at the days of tenants with limits: parks those that are over, and tells of alerts, each once.

Called by the sweep; calls usage/ and the store.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime

from hindsight_aws.errors import HindsightError
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.limits import LimitAlert
from hindsight_aws.model.metric import Metric
from hindsight_aws.ports.store import DueWork, Store
from hindsight_aws.telemetry import measure
from hindsight_aws.usage.allowance import look

_log = logging.getLogger(__name__)


def tend_limits(store: Store, due: Iterable[DueWork], now: datetime) -> None:
    """Looks at each tenant that is due for it; one that fails costs no other."""
    for work in due:
        try:
            with store.transaction(work.tenant_id) as tx:
                look(tx, work.tenant_id, now)
                alerts = tx.limits.take_alerts()
        except HindsightError as error:
            _log.warning("limits of tenant %s were not looked at: %s: %s", work.tenant_id, type(error).__name__, error)
            continue
        for alert in alerts:
            tell(work.tenant_id, alert)


def tell(tenant_id: TenantId, alert: LimitAlert) -> None:
    """Tells whoever operates the system that a share of a tenant's daily limit is reached."""
    measure(Metric.SPEND_ALERTS, tenant=tenant_id, limit=alert.limit)
    _log.warning(
        "limit_alert tenant=%s limit=%s share=%s spent=%s cap=%s",
        tenant_id,
        alert.limit,
        alert.share.normalize(),
        alert.spent.normalize(),
        alert.cap.normalize(),
    )
