"""What a bank may set, and what its settings come to: fields, their checks, and `resolve`.

Every room that works for a bank asks here; this one asks the process's settings and nobody else.  Pure.
"""
