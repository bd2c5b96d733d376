"""Renders input data so that no content can leave its block or pass for an instruction.

Called by whoever builds a model call; calls nothing. The form is fixed by `docs/model-contract.md`.
"""

from __future__ import annotations

import json
import re

from hindsight_aws.ports.model_gateway import JsonValue

_KIND = re.compile(r"[a-z_]+")
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")


def data_block(kind: str, document: JsonValue) -> str:
    """One `<data kind="…">` block holding `document` as one JSON document on a line of its own.

    `<`, `>`, `&` and the two Unicode line separators are escaped inside the JSON; a lone surrogate becomes U+FFFD,
    because no encoder downstream would take it. Braces and percent signs pass through: nothing here is a template.

    Raises: ValueError for a kind that is not `[a-z_]+` or a number that JSON has no word for.
    """
    if not _KIND.fullmatch(kind):
        raise ValueError(f"a data block's kind is lower-case letters and underscores, not {kind!r}")
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(", ", ": "))
    text = _LONE_SURROGATES.sub("\ufffd", text).translate(_ESCAPES)
    return f'<data kind="{kind}">\n{text}\n</data>'
