"""An erasure: what somebody asked to be gone for good, and what is known of it afterwards: never a memory's text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NewType
from uuid import UUID

from hindsight_aws.model.ids import BankId

ErasureId = NewType("ErasureId", UUID)
ErasureKind = Literal["bank", "tags"]
Match = Literal["any", "all"]
ErasureState = Literal["running", "objects", "unsigned", "signed"]
"""Rows are being deleted; they are gone, and stored files are left; all is gone and the receipt complete; signed."""


@dataclass(frozen=True, slots=True)
class NewErasure:
    """What is to be gone: a bank, or what carries tags of it; `match` says whether one of them is enough."""

    erasure_id: ErasureId
    bank_id: BankId
    bank: str
    kind: ErasureKind
    subject: str
    tags: tuple[str, ...] = ()
    match: Match | None = None


@dataclass(frozen=True, slots=True)
class Signature:
    """Who vouches for a digest: the key, the way of signing, and the signature in base64."""

    key_id: str
    algorithm: str
    value: str


@dataclass(frozen=True, slots=True)
class Erasure:
    """An erasure as far as it is.

    `erased` counts the rows that went by table, `blanked` those that stay without their text, `queues` work that waited
    by kind, `objects` stored files.  `object_keys` are those still to be deleted.  `bank_id` tells a bank from one made
    again under its name.
    """

    erasure_id: ErasureId
    bank_id: BankId
    bank: str
    kind: ErasureKind
    subject: str
    tags: tuple[str, ...]
    match: Match | None
    state: ErasureState
    erased: Mapping[str, int]
    blanked: Mapping[str, int]
    queues: Mapping[str, int]
    object_keys: tuple[str, ...]
    objects: int
    started_at: datetime
    ended_at: datetime | None
    digest: str | None = None
    signature: Signature | None = None
    signed_at: datetime | None = None
