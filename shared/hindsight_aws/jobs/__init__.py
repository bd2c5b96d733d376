"""The reception of queues, schedules and workflows: takes events apart, calls one use case, says what became of it.

Called by the doors in functions/; calls the use cases.
"""
