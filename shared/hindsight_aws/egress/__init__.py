"""The way to the internet: an adapter of ports/outbound.py that only `send` loads."""

from hindsight_aws.egress.post import GuardedOutbound

__all__ = ["GuardedOutbound"]
