"""Every tool, by its name, in the order in which clients are shown them.  Read by exchange.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hindsight_aws.api.mcp.catalogue import answers, banks, curation, documents, knowledge, mental_models
from hindsight_aws.api.mcp.tool import Tool

TOOLS: Final[Mapping[str, Tool]] = {
    tool.name: tool for part in (answers, banks, mental_models, knowledge, curation, documents) for tool in part.TOOLS
}
