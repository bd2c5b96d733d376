"""Decides what a run does next: values in, values out; nothing is read, asked or written here.

`planner` decides on the search, `closing` from the evidence on, both over `state`, which `codec` writes as JSON.
Called by the steps.
"""
