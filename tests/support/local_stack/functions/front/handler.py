"""A fake API function: does what the path says, so that tests of the stack can provoke it."""

import json
import os
import signal
import sys
import time
from typing import Any

_calls = 0


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answers with who answered, or misbehaves."""
    global _calls  # noqa: PLW0603 - counts what one environment has served
    _calls += 1
    path, query = event["rawPath"], event.get("queryStringParameters", {})
    if path == "/sleep":
        time.sleep(float(query["seconds"]))
    elif path == "/die":
        os.kill(os.getpid(), signal.SIGKILL)
    elif path == "/exit":
        sys.exit(3)
    elif path == "/raise":
        raise ValueError("asked to")
    elif path == "/big":
        return {"statusCode": 200, "body": "x" * int(query["bytes"])}
    elif path == "/malformed":
        return {"statusCode": "nonsense"}
    elif path == "/database":
        return {"statusCode": 200, "body": _query_database(query.get("sql", "SELECT current_user"))}
    elif path == "/echo":
        headers = {"content-type": "application/json", "x-kept": "yes"}
        return {"statusCode": 200, "headers": headers, "body": json.dumps(event), "cookies": ["a=1", "b=2"]}
    who = {"pid": os.getpid(), "calls": _calls, "remaining": context.get_remaining_time_in_millis()}
    return {"statusCode": 200, "headers": {"content-type": "application/json"}, "body": json.dumps(who)}


def _query_database(statement: str) -> str:
    import psycopg

    with psycopg.connect(os.environ["HINDSIGHT_DATABASE_URL"]) as connection:
        row = connection.execute(statement.encode()).fetchone()
    return str(row[0]) if row else ""
