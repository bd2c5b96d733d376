"""What the system tells about itself while it works: log lines, measurements and spans, each of the event in hand.

As with `logging`, there is one of each for a process, since a process handles one event at a time: the runtime says
where they go, and whoever works tells them without being handed anything.  Says ids, never what memories say.
"""

from hindsight_aws.telemetry.event import Event, about, about_another, begin, current
from hindsight_aws.telemetry.measuring import measure, measure_into, measure_once
from hindsight_aws.telemetry.spans import OpenSpan, memory_span, outgoing_trace, root_span, span, trace_into

__all__ = [
    "Event",
    "OpenSpan",
    "about",
    "about_another",
    "begin",
    "current",
    "measure",
    "measure_into",
    "measure_once",
    "memory_span",
    "outgoing_trace",
    "root_span",
    "span",
    "trace_into",
]
