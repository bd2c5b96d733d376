"""Which functions their own messages come back to: Lambda stops such a chain after sixteen rounds unless it is allowed.

Pure; called by functions.py. What is stopped goes to the dead letters, though it was only a wake-up that was put off.
"""

from infra.topology import QueueTrigger, Topology


def functions_in_a_loop(topology: Topology) -> frozenset[str]:
    """The names of the functions that a message of theirs may lead back to, over however many queues."""
    consumers = {trigger.queue: function.name for function, trigger in topology.each(QueueTrigger)}
    leads_to = {
        function.name: {consumers[queue] for queue in function.sends_to if queue in consumers}
        for function in topology.functions
    }
    return frozenset(name for name in leads_to if name in _reached(name, leads_to))


def _reached(start: str, leads_to: dict[str, set[str]]) -> set[str]:
    """Whatever messages of `start` lead to in the end; `start` itself only where they come back."""
    reached: set[str] = set()
    ahead = set(leads_to[start])
    while ahead:
        reached |= ahead
        ahead = {further for name in ahead for further in leads_to[name]} - reached
    return reached
