"""Recall: from a question to the memories that answer it, within a token budget.

Called by the API, MCP and reflect; calls ports/recall.py, an Embedder and, when there is one, a Reranker.
"""

from hindsight_aws.ports.recall import TimeFilter
from hindsight_aws.recall.recall import recall
from hindsight_aws.recall.render import render
from hindsight_aws.recall.request import Budget, MinScores, RecallQuery, fact_types_of

__all__ = ["Budget", "MinScores", "RecallQuery", "TimeFilter", "fact_types_of", "recall", "render"]
