"""A running system in trouble: a throttled model, a dying database, doubled ticks, lost messages, killed functions."""

from tests.support.chaos.storm import Aftermath, Chaos, strike

__all__ = ["Aftermath", "Chaos", "strike"]
