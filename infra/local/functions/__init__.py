"""Lambda on this machine: one process per execution environment, one event at a time, fed over the Runtime API."""

from infra.local.functions.outcome import ErrorKind, Failure, Outcome, Success
from infra.local.functions.pool import FunctionPool
from infra.local.functions.settings import EnvironmentSettings

__all__ = ["EnvironmentSettings", "ErrorKind", "Failure", "FunctionPool", "Outcome", "Success"]
