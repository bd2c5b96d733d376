"""The fault harness: strikes at named points of the product and on the wire to Postgres, for tests of every part.

`Faults` is what tests use; the server and the proxy run in the stack's supervisor.
"""

from infra.local.faults.api import Faults
from infra.local.faults.rules import Action, FaultRules, Hit, Rule
from infra.local.faults.server import FaultServer
from infra.local.faults.wire import WireProxy

__all__ = ["Action", "FaultRules", "FaultServer", "Faults", "Hit", "Rule", "WireProxy"]
