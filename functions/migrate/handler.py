"""The migrate door: a CloudFormation custom resource that brings the schema to its head before the others get traffic.

A delete of the stack leaves the data alone.  Raises when the schema cannot be brought there: that stops a deployment.
Whoever may invoke it by hand administers the deployment: `{"Command": ["tenant", "list"]}` runs the command line in
here, since nothing outside the private network reaches the database.
"""

from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any

from hindsight_aws.aws.database_login import administrator_url
from hindsight_aws.errors import HindsightError
from hindsight_aws.runtime import Runtime
from hindsight_aws.settings import load_settings
from hindsight_aws.store.migrator import migrate

_PHYSICAL_ID = "hindsight-schema"
_RESUMES_WITHIN_S = 60.0
"""A paused database takes half a minute to resume; the deployment waits for it."""


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Migrates on create and update; answers in the form of a provider-framework custom resource.

    A known error is raised bare: CloudFormation shows its sentence, and has no room for a trace.
    """
    mark = Runtime(load_settings()).work_mark
    if mark is not None:
        mark.touch()  # what is done here may be work: of a tenant whose limit is raised, say
    if "Command" in event:
        return _administer([str(word) for word in event["Command"]])
    answer: dict[str, Any] = {"PhysicalResourceId": _PHYSICAL_ID}
    if event.get("RequestType") == "Delete":
        return answer
    try:
        report = migrate(administrator_url(load_settings()), _RESUMES_WITHIN_S)
    except HindsightError as error:
        raise error.with_traceback(None) from None
    return answer | {"Data": {"Applied": len(report.applied), "Total": report.total}}


def _administer(command: list[str]) -> dict[str, Any]:
    """What the command line says to that command. A new key's token is in the answer and in no log.

    The administrator's password is in neither.
    """
    from hindsight_aws.cli import main

    url = administrator_url(load_settings())
    said, complained = StringIO(), StringIO()
    with redirect_stdout(said), redirect_stderr(complained):
        try:
            code = main(command, database_url=url)
        except SystemExit as refused:  # how the parser ends a command that it does not know
            code = int(refused.code or 0)
    return {"ExitCode": code, "Output": said.getvalue(), "Errors": complained.getvalue()}
