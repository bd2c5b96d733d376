"""Recall: from a question to the memories that answer it, within a token budget.

Called by the API and reflect; calls ports/recall.py, an Embedder and, when there is one, a Reranker.
"""

from hindsight_aws.ports.recall import TimeFilter
from hindsight_aws.recall.begin import text_of
from hindsight_aws.recall.fuzzy_tags import resolve_fuzzy
from hindsight_aws.recall.recall import recall
from hindsight_aws.recall.render import render, render_together
from hindsight_aws.recall.request import After, Budget, MinScores, RecallQuery, fact_types_of
from hindsight_aws.recall.together import recall_together

__all__ = [
    "After",
    "Budget",
    "MinScores",
    "RecallQuery",
    "TimeFilter",
    "fact_types_of",
    "recall",
    "recall_together",
    "render",
    "render_together",
    "resolve_fuzzy",
    "text_of",
]
