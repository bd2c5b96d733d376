"""A fake scheduled function: notes each tick."""

import os
from typing import Any

import psycopg


def handler(event: dict[str, Any], context: Any) -> None:
    """Writes down which schedule called."""
    with psycopg.connect(os.environ["HINDSIGHT_DATABASE_URL"]) as connection:
        connection.execute("INSERT INTO seen (body) VALUES (%s)", (event["resources"][0].rpartition("/")[2],))
