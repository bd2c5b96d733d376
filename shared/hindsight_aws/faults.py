"""Named points at which a test may make this process fail.  Outside the local stack nothing happens here."""


def reached(point: str) -> None:
    """Tells the fault harness, where there is one, that execution reached `point`."""
