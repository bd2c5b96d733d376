"""Why a file is not read, in words that follow its name."""

from __future__ import annotations


class Refusal(Exception):
    """The file is sound perhaps, but no text of it can be had; the message goes on from "The file 'x' …"."""


PROTECTED = "is protected by a password"
