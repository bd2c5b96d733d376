"""The migrate door: a CloudFormation custom resource that brings the schema to its head before the others get traffic.

A delete of the stack leaves the data alone.  Raises when the schema cannot be brought there: that stops a deployment.
"""

from typing import Any

from hindsight_aws.aws.database_login import administrator_url
from hindsight_aws.settings import load_settings
from hindsight_aws.store.migrator import migrate

_PHYSICAL_ID = "hindsight-schema"


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Migrates on create and update; answers in the form of a provider-framework custom resource."""
    answer: dict[str, Any] = {"PhysicalResourceId": _PHYSICAL_ID}
    if event.get("RequestType") == "Delete":
        return answer
    report = migrate(administrator_url(load_settings()))
    return answer | {"Data": {"Applied": len(report.applied), "Total": report.total}}
