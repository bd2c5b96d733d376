"""A fake queue worker: writes each message's body to a table, passing named fault points, or fails as the body says."""

import os
from typing import Any

import psycopg

from hindsight_aws.faults import reached


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Reports failures per message."""
    failures = []
    for record in event["Records"]:
        body, count = record["body"], int(record["attributes"]["ApproximateReceiveCount"])
        if body == "poison" or (body.startswith("fail once") and count == 1):
            failures.append({"itemIdentifier": record["messageId"]})
        elif body == "raise once" and count == 1:
            raise RuntimeError("asked to")
        else:
            _write(body)
    return {"batchItemFailures": failures}


def _write(body: str) -> None:
    with psycopg.connect(os.environ["HINDSIGHT_DATABASE_URL"]) as connection:
        connection.execute("INSERT INTO seen (body) VALUES (%s)", (body,))
        reached("worker.before_commit")
    reached("worker.after_commit")
