"""The rules of tests/security/authorisation.csv, and what they say each kind of key is answered, as a page.

`python -m tests.support.authorisation > docs/authorisation.md` writes the page.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

RULES_FILE = Path(__file__).parents[1] / "security" / "authorisation.csv"
PAGE_FILE = Path(__file__).parents[2] / "docs" / "authorisation.md"
KEYS: Mapping[str, str] = {
    "none": "no key is sent",
    "bad": "a key that nobody was ever given",
    "expired": "a key past its expiry",
    "revoked": "a key that was taken back",
    "suspended": "a key of a tenant whose operator suspended it",
    "stranger": "another tenant's key with every permission",
    "elsewhere": "a key with every permission, for banks of other names",
    "read": "a key that may only read",
    "token": "a token, verified by the gateway, whose claims allow to read every bank",
    "write": "a key that may only write",
    "admin": "a key that may only administer",
    "tags": "a key with every permission, limited to tags that the thing bears",
    "other tags": "a key with every permission, limited to tags that the thing does not bear",
    "scope": "a key with every permission, limited to the observations of one exact scope",
    "full": "a key with every permission and no limit",
}
UNKNOWN = frozenset({"none", "bad", "expired", "revoked"})
_INTRODUCTION = """# Who may call what

Written by `python -m tests.support.authorisation` from the rules in
[authorisation.csv](../tests/security/authorisation.csv); a test fails when the two differ, when an operation has no
rule, or when any answer is not the one that is said here.

**Keys**

{keys}

**Answers**

- `yes`: what the operation answers to a key without limits.
- `part`: the same, with what the key may see in it and nothing else.
- `nothing`: a success that tells of nothing and changes nothing, as for a bank that was never there.
- `own`: answered of the caller's own tenant alone, in which a bank of that name may be made.
- `401`, `403`, `404`: refused: unknown key; known key that may not; not there, or not there for this key (alike).

The body of a call is validated before its key is looked at: a wrong body is answered 422 whoever sends it.  A row that
starts with `tool` is a tool of MCP.

"""


@dataclass(frozen=True, slots=True)
class Rule:
    """What an operation asks of its caller.

    `needs` are permissions, all of which a key must have; empty: any key will do; None: no key is asked for.
    `granted` is the status of a success.  `absent`: what is answered about a bank that is not in the caller's sight.
    `limited`: what a key without that limit's `yes` is answered, by kind of key.
    """

    operation: str
    needs: frozenset[str] | None
    granted: str
    absent: str
    limited: Mapping[str, str]

    def answer(self, key: str) -> str:
        """What the rule says for a kind of key; the words are those of the page."""
        if self.needs is None:
            return "yes"
        if key in UNKNOWN:
            return "401"
        if key == "suspended":
            return "403"
        if key == "stranger":
            return self.absent
        if key == "elsewhere":
            return "404" if self.absent == "own" else self.absent
        if key in {"read", "token", "write", "admin"}:
            return "yes" if self.needs <= {"read" if key == "token" else key} else "403"
        return self.limited.get(key, "yes")


def rules() -> Mapping[str, Rule]:
    """The rules by operation."""
    with RULES_FILE.open(encoding="utf-8", newline="") as file:
        return {row["operation"]: _rule(row) for row in csv.DictReader(file)}


def page() -> str:
    """The page that shows what the rules say, for each operation and each kind of key."""
    keys = "\n".join(f"- `{name}`: {said}" for name, said in KEYS.items())
    head = ["operation", "needs", *KEYS]
    lines = [_line(head), _line(["---"] * len(head))]
    for rule in rules().values():
        needs = "no key" if rule.needs is None else " and ".join(sorted(rule.needs, reverse=True)) or "any key"
        lines.append(_line([f"`{rule.operation}`", needs, *(rule.answer(key) for key in KEYS)]))
    return _INTRODUCTION.format(keys=keys) + "\n".join(lines) + "\n"


def _rule(row: Mapping[str, str]) -> Rule:
    words = row["needs"].split("+")
    needs = None if words == ["nobody"] else frozenset(words) - {"any"}
    limited = {key: row[key] for key in ("tags", "other tags", "scope")}
    return Rule(row["operation"], needs, row["granted"], row["absent"], limited)


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.stdout.write(page())
