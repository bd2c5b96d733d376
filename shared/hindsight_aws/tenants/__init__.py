"""Tenants and their keys: make, list, revoke, and tell who is calling.  Called by api/ and cli; calls ports."""
