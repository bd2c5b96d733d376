"""What is looked for in text before it is stored, and what a bank's policy does about each find.

Pure; read by configuration/ (is the setting well formed?) and by screening/ (what is to be done?).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast, get_args

from hindsight_aws.errors import InvalidRequest, Violation

Action: TypeAlias = Literal["allow", "redact", "block"]
ACTIONS: Final[tuple[str, ...]] = get_args(Action)

SECRETS: Final = (
    "private_key",
    "aws_access_key",
    "aws_secret_key",
    "service_token",
    "jwt",
    "bearer_token",
    "url_password",
    "assigned_secret",
)
PERSONAL_DATA: Final = ("email", "phone", "credit_card", "iban", "us_ssn")
IP_ADDRESS: Final = "ip_address"
INSTRUCTIONS: Final = "injected_instructions"

DETECTORS: Final = (*SECRETS, *PERSONAL_DATA, IP_ADDRESS, INSTRUCTIONS)
"""Every detector by name, in the order in which one that begins where another does wins."""

GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "secrets": SECRETS,
    "personal_data": PERSONAL_DATA,
    "sensitive_data": (*SECRETS, *PERSONAL_DATA),
}
"""What else a rule may be `on`: several detectors at once."""

_KEYS: Final = frozenset({"enabled", "rules"})


@dataclass(frozen=True, slots=True)
class ScreeningPolicy:
    """The action of each detector by name; one that is not named allows."""

    actions: Mapping[str, Action]

    def action(self, detector: str) -> Action:
        """What is done about a find of this detector."""
        return self.actions.get(detector, "allow")

    @property
    def asked(self) -> tuple[str, ...]:
        """The detectors whose finds are not simply allowed."""
        return tuple(name for name in DETECTORS if self.action(name) != "allow")


WITHOUT_RULES: Final = ScreeningPolicy(dict.fromkeys(SECRETS, "redact"))
"""A bank that says nothing: secrets do not enter its memory; people, and what they write, do."""
OFF: Final = ScreeningPolicy({})


@dataclass(frozen=True, slots=True)
class Screening:
    """What came of it: counts by detector, and the items that were left out; no word of what was found."""

    redacted: Mapping[str, int]
    violations: tuple[Violation, ...]

    @property
    def is_silent(self) -> bool:
        """Whether nothing was found that the policy does not allow."""
        return not self.redacted and not self.violations

    @property
    def dropped(self) -> tuple[int, ...]:
        """Positions of the items that are not stored."""
        return tuple(sorted({violation.item for violation in self.violations}))

    def counts(self) -> dict[tuple[str, Action], int]:
        """Finds by detector and what was done about them."""
        counted: Counter[tuple[str, Action]] = Counter()
        for name, times in self.redacted.items():
            counted[name, "redact"] += times
        for violation in self.violations:
            counted[violation.detector, "block"] += violation.count
        return dict(counted)

    def as_json(self) -> dict[str, object]:
        """The form in operations and answers."""
        return {
            "redacted": dict(sorted(self.redacted.items())),
            "dropped_items": list(self.dropped),
            "violations": [violation.as_json() for violation in self.violations],
        }


NOTHING_FOUND: Final = Screening({}, ())


def parse_policy(value: object, name: str) -> ScreeningPolicy:
    """The policy of `{enabled, rules: [{on, action}]}`; None is `WITHOUT_RULES`, `enabled` false is `OFF`.

    `on` names a detector or a group.  Rules change the policy of a bank without rules, and a later rule an earlier one.

    Raises: InvalidRequest, naming the entry: a policy that is half understood is none.
    """
    if value is None:
        return WITHOUT_RULES
    policy = _object(name, value, _KEYS)
    enabled = policy.get("enabled", True)
    if enabled is not None and not isinstance(enabled, bool):
        raise InvalidRequest(f"{name}.enabled must be a boolean, got {type(enabled).__name__}")
    rules = policy.get("rules")
    if rules is not None and not isinstance(rules, list | tuple):
        raise InvalidRequest(f"{name}.rules must be a list, got {type(rules).__name__}")
    actions = dict(WITHOUT_RULES.actions)
    for at, entry in enumerate(rules or ()):
        actions |= _rule(f"{name}.rules[{at}]", entry)
    return OFF if enabled is False else ScreeningPolicy(actions)


def _rule(where: str, entry: object) -> dict[str, Action]:
    rule = _object(where, entry, None)
    on, action = rule.get("on"), rule.get("action")
    if not isinstance(on, str):
        raise InvalidRequest(f"{where}.on must be a string, got {_shown(on)}")
    if action not in ACTIONS:
        raise InvalidRequest(f"{where}.action must be one of {', '.join(ACTIONS)}, got {_shown(action)}")
    if on not in GROUPS and on not in DETECTORS:
        raise InvalidRequest(f"{where}.on must be one of {', '.join((*GROUPS, *DETECTORS))}, got {_shown(on)}")
    return dict.fromkeys(GROUPS.get(on, (on,)), cast("Action", action))


def _object(where: str, value: object, known: frozenset[str] | None) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise InvalidRequest(f"{where} must be an object, got {type(value).__name__}")
    unknown = sorted(str(key)[:60] for key in value if known is not None and key not in known)
    if unknown:
        raise InvalidRequest(f"{where} has unknown keys: {unknown[:10]}")
    return value


def _shown(value: object) -> str:
    return repr(value)[:60]
