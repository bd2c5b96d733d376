"""Gives the rows of an archive the ids that they have in another bank.  Pure; called by restore.py.

An id follows from the bank and the id in the archive, so that every attempt makes the same.  Documents, scopes,
entities and work have ids that follow from their names, here as everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final
from uuid import UUID

from hindsight_aws.errors import ArchiveRefused
from hindsight_aws.model.document import document_id_of
from hindsight_aws.model.entity import name_key
from hindsight_aws.model.ids import BankId, TenantId, derived_uuid
from hindsight_aws.model.scope import Scope
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.transfer.kinds import Kind

_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def _true_name(kind: Kind, row: JsonObject) -> JsonValue:
    """What the name of a row must be, where it follows from the row: a forged one would mix what is kept apart."""
    if kind.name == "scopes" and isinstance(tags := row.get("tags"), list):
        return Scope.of(str(tag) for tag in tags).key
    if kind.name == "entities":
        return name_key(str(row.get("canonical_name")))
    return row.get("external_id")


class Moved:
    """Ids of one archive in one bank.  It must be told of documents, scopes and entities before what refers to them."""

    def __init__(self, tenant_id: TenantId, bank_id: BankId) -> None:
        self._tenant_id = tenant_id
        self._bank_id = bank_id
        self._named: dict[str, str] = {}
        self._names: Mapping[str, tuple[str, Callable[[str], UUID]]] = {
            "documents": ("external_id", lambda name: document_id_of(bank_id, name)),
            "scopes": ("scope_key", lambda key: derived_uuid("scope", tenant_id, bank_id, key)),
            "entities": ("name_key", lambda key: derived_uuid("entity", tenant_id, bank_id, key)),
        }

    @property
    def named(self) -> frozenset[str]:
        """Kinds that it must be told of."""
        return frozenset(self._names)

    def learn(self, kind: Kind, row: JsonObject) -> None:
        """Notes a row whose id follows from its name.  Raises: ArchiveRefused."""
        column, derive = self._names[kind.name]
        old, name = row.get(kind.ids[0]), row.get(column)
        if not isinstance(old, str) or not isinstance(name, str):
            raise ArchiveRefused(f"{kind.member} holds a row without {kind.ids[0]} or {column}")
        if _true_name(kind, row) != name:
            raise ArchiveRefused(f"{kind.member} holds a {column} that is not that of its row")
        self._named[old] = str(derive(name))

    def row(self, kind: Kind, row: JsonObject) -> JsonObject:
        """The row with the ids that it has in the bank.  Raises: ArchiveRefused for an id that is none."""
        if kind.name in self._names:
            self.learn(kind, row)
        moved = dict(row)
        for column in kind.ids:
            if moved.get(column) is not None:
                moved[column] = self._ids(moved[column], f"{kind.member}: {column}")
        for column in kind.nested:
            moved[column] = self._nested(moved.get(column))
        if kind.name == "work":
            moved["work_id"] = str(derived_uuid("work", moved["fact_id"], row.get("scope_key") or "none"))
        return moved

    def id(self, old: str) -> str:
        """What an id of the archive is in the bank."""
        known = self._named.get(old)
        return str(derived_uuid("moved", self._bank_id, old)) if known is None else known

    def _ids(self, value: JsonValue, where: str) -> JsonValue:
        if isinstance(value, list):
            return [self._ids(each, where) for each in value]
        if not isinstance(value, str) or not _ID.fullmatch(value):
            raise ArchiveRefused(f"{where} holds what is no id")
        return self.id(value)

    def _nested(self, value: JsonValue) -> JsonValue:
        if isinstance(value, dict):
            return {name: self._nested(each) for name, each in value.items()}
        if isinstance(value, list):
            return [self._nested(each) for each in value]
        return self.id(value) if isinstance(value, str) and _ID.fullmatch(value) else value
