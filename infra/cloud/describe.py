"""The table of options in docs/howto/deploy.md, as the configuration's own model has them; `-m` rewrites it there.

Run by whoever changes an option; a test tells when the page has been left behind.
"""

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Final, get_args, get_origin

from pydantic.fields import FieldInfo

from infra.cloud.config import DEFAULTS, CloudConfig, Profile
from infra.cloud.option_groups import DatabaseOptions, EntranceOptions, NetworkOptions, WatchOptions

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "howto" / "deploy.md"
_BEGIN: Final = "<!-- options: written by python -m infra.cloud.describe -->\n"
_END: Final = "<!-- end of options -->\n"
_GROUPS: Final = (
    ("Network", NetworkOptions),
    ("Database", DatabaseOptions),
    ("Entrance", EntranceOptions),
    ("Alarms, budget, logs", WatchOptions),
)
_MOST_CHOICES: Final = 4


def options_table() -> str:
    """A table for each group of options, and one for those that belong to none."""
    grouped = {name for _, group in _GROUPS for name in group.model_fields}
    rest = [name for name in CloudConfig.model_fields if name not in grouped]
    parts = [_table("The whole", rest), *(_table(title, list(group.model_fields)) for title, group in _GROUPS)]
    return "\n".join(parts)


def with_table(page: str) -> str:
    """The page with the table as it should be. Raises: ValueError, when the page has no place for it."""
    before, begin, rest = page.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise ValueError("the page has no place for the table of options")
    return before + begin + options_table() + end + after


def _table(title: str, names: list[str]) -> str:
    head = f"**{title}**\n\n| option | dev | prod | |\n|---|---|---|---|\n"
    return head + "".join(f"{row}\n" for row in _rows(names))


def _rows(names: list[str]) -> Iterator[str]:
    for name in names:
        field = CloudConfig.model_fields[name]
        option = str(field.alias)
        dev, prod = (_shown(DEFAULTS[each].get(option, field.default)) for each in (Profile.DEV, Profile.PROD))
        if option == "profile":
            dev, prod = "`dev`", "`prod`"
        yield f"| `{option}` | {dev} | {prod} | {_choices(field)}{field.description} |"


def _choices(field: FieldInfo) -> str:
    """What may be chosen from, where that is a few words."""
    kind = field.annotation
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        words = [each.value for each in kind]
    elif get_origin(kind) is not None and all(isinstance(each, str) for each in get_args(kind)):
        words = list(get_args(kind))
    else:
        return ""
    return f"{' or '.join(f'`{word}`' for word in words)}. " if len(words) <= _MOST_CHOICES else ""


def _shown(value: object) -> str:
    if value is None or value in ((), {}):
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value.value if isinstance(value, StrEnum) else value}`"


def main() -> None:
    """Rewrites the table in the page."""
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
