"""A bank: one memory of one tenant, under the id its callers gave it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hindsight_aws.errors import InvalidRequest
from hindsight_aws.model.ids import BankId

LONGEST_BANK_ID_BYTES = 192
_LAST_C0_CONTROL = 0x1F
_C1_CONTROLS = range(0x7F, 0xA0)


@dataclass(frozen=True, slots=True)
class Bank:
    """A bank as stored; `overrides` holds the settings it was given, never the resolved ones.

    `embedding_model` is the model of every vector in it, or None before the first fact.
    """

    bank_id: BankId
    external_id: str
    name: str | None
    overrides: Mapping[str, object]
    embedding_model: str | None

    @property
    def label(self) -> str:
        """The bank's name; a bank that was given none is called by its id."""
        return self.external_id if self.name is None else self.name


def check_new_bank_id(external_id: str) -> None:
    """Accepts what may become a bank's id.  Raises InvalidRequest with the rule that was broken."""
    if not external_id.strip():
        raise InvalidRequest("Bank id must not be empty")
    try:
        size = len(external_id.encode())
    except UnicodeEncodeError:
        raise InvalidRequest("Bank id must be valid Unicode text") from None
    if size > LONGEST_BANK_ID_BYTES:
        raise InvalidRequest(f"Bank id is too long: at most {LONGEST_BANK_ID_BYTES} bytes of UTF-8 are allowed")
    if any(ord(char) <= _LAST_C0_CONTROL or ord(char) in _C1_CONTROLS for char in external_id):
        raise InvalidRequest("Bank id must not contain control characters")
    if "/" in external_id or external_id in {".", ".."}:
        raise InvalidRequest("Bank id must not contain '/', nor be '.' or '..': no path could name the bank")
    if external_id.startswith("_"):
        raise InvalidRequest("Bank id must not start with '_': that prefix is reserved")
