"""Webhooks: hooks of banks, and the events that are delivered to them, signed, again and again until one is taken."""
