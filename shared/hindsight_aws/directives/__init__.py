"""Directives: standing rules for how a bank's answers must be given.

`manage` is called by the API, `apply` by reflect and mental models, whose workers load nothing of retain.
"""
