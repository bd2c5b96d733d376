"""Postgres: connections, tenant-bound transactions, rows to model and back.

Joined to the use cases by the composition roots alone, `runtime` and `cli`; calls SQL.
"""
