"""Postgres: connections, tenant-bound transactions, rows to model and back.  Called by runtime alone; calls SQL."""
