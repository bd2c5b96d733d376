"""The settings a bank may override, by name: the kind of each value, its limits, and what it does here.

configuration/config.py holds their types and defaults; docs/settings.md is checked against both.
"""

from __future__ import annotations

from collections.abc import Mapping

from hindsight_aws.configuration.answer_fields import OTHER, OWN, RECALL, REFLECT
from hindsight_aws.configuration.field import BankField
from hindsight_aws.configuration.memory_fields import CONSOLIDATION, RETAIN

FIELDS: Mapping[str, BankField] = {
    field.name: field for field in (*RETAIN, *CONSOLIDATION, *RECALL, *REFLECT, *OTHER, *OWN)
}
