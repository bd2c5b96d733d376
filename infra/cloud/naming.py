"""How the topology's names and times are spelled in CloudFormation."""

from typing import Final

from infra.cloud.errors import ScheduleError

_MINUTE: Final = 60


def logical(name: str) -> str:
    """A construct id: `reflect_step` and `reflect-step` become `ReflectStep`."""
    return "".join(part.capitalize() for part in name.replace("-", "_").split("_"))


def rate(seconds: int) -> str:
    """The schedule expression for one tick every so many seconds. Raises: ScheduleError, unless whole minutes."""
    minutes, rest = divmod(seconds, _MINUTE)
    if rest or minutes < 1:
        raise ScheduleError(f"a schedule ticks every whole number of minutes, not every {seconds} seconds")
    return f"rate({minutes} minute{'s' if minutes > 1 else ''})"
