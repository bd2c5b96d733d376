"""Turns pending facts of one scope into observations.

In its order: `drain` goes `round` by round; `generation` says on what; `read` finds a `batch` and, within a `budget`,
what is believed beside it; `ask` puts it to a model, whose `reply` `check` makes a plan; `reconcile` settles
near-duplicates; the plan is applied with `verdicts`.  Called by the job and the API.
"""
