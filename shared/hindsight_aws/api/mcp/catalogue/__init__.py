"""Every tool, by its name, in the order in which clients are shown them.  Read by exchange.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hindsight_aws.api.mcp.catalogue import answers, banks, curation, documents, mental_models
from hindsight_aws.api.mcp.tool import Tool

TOOLS: Final[Mapping[str, Tool]] = {
    tool.name: tool for tool in (*answers.TOOLS, *banks.TOOLS, *mental_models.TOOLS, *curation.TOOLS, *documents.TOOLS)
}
