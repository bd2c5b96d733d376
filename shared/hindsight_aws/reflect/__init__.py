"""Reflect: a question becomes a run of searches and model calls that ends in an answer with citations.

`runs` is called by the API and the sweep, `steps` by jobs/reflect for the workflow; `planner` decides.  It calls
recall, prompts and the ports, and writes nothing into memory.
"""
