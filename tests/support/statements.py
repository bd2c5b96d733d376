"""Which files of named statements there are, for tests that hold every statement to a rule."""

from __future__ import annotations

from importlib.resources import files


def topics() -> list[str]:
    """Every file of named statements, without its ending, sorted."""
    folder = files("hindsight_aws.store").joinpath("sql")
    return sorted(entry.name.removesuffix(".sql") for entry in folder.iterdir() if entry.name.endswith(".sql"))
