"""An ingest worker in a process of its own: `python -m tests.support.lone_worker URL TENANT OPERATION`.

Works until the operation has ended, and prints its seconds, CPU seconds and peak memory in MB as JSON.
"""

import json
import resource
import sys
import time
from uuid import UUID

from hindsight_aws.jobs.ingest import ingest
from hindsight_aws.model.ids import OperationId, TenantId
from hindsight_aws.ports.clock import SystemClock
from hindsight_aws.retain import RetainPorts
from hindsight_aws.settings import Settings
from hindsight_aws.store.postgres import PostgresStore
from tests.support.memory import peak_mb
from tests.support.models import HashEmbedder, NotedWakeups, ScriptedModel


def main(url: str, tenant: TenantId, operation: OperationId) -> None:
    store = PostgresStore(lambda: url, connect_for_s=30.0)
    ports = RetainPorts(store, HashEmbedder(), ScriptedModel(), NotedWakeups(), SystemClock(), Settings())
    message = json.dumps({"tenant_id": str(tenant), "operation_id": str(operation)})
    began = time.monotonic()
    attempts = 0
    while attempts < 20:
        attempts += 1
        ingest(ports, message, 600.0)
        with store.transaction(tenant) as tx:
            found = tx.operations.find(operation)
        if found is None or not found.is_open:
            break
    used = resource.getrusage(resource.RUSAGE_SELF)
    report = {
        "seconds": round(time.monotonic() - began, 1),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "peak_mb": peak_mb(),
        "attempts": attempts,
    }
    sys.stdout.write(json.dumps(report) + "\n")
    store.close()


if __name__ == "__main__":
    main(sys.argv[1], TenantId(UUID(sys.argv[2])), OperationId(UUID(sys.argv[3])))
