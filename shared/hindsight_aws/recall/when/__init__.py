"""Time in questions: finds the windows that a query's words mean, by a grammar of its own.

Called by recall; pure.  `time_windows(query, now)` is the entrance; docs/howto/time-in-queries.md tells the rules.
"""
