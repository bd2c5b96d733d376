"""A function that never answers."""

import time


def handler(event: object, context: object) -> None:
    time.sleep(600)
