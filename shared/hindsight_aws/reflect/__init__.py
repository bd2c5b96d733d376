"""Reflect: a question becomes a run of searches and model calls that ends in an answer, and writes nothing into memory.

A run: `runs` asks; `steps` → `settle` begins, `happened` → `planner` | `closing` decides, `tool_step` → `tools` search
(`memories`, `pages`, `expand`), `model_step` → `asking` asks, `answer` → `citations`, `forgotten`, `aftermath` ends it.
`state` and `codec` hold the decisions, `transcript` → `presentation` what was read, `ports` what is needed.
"""
