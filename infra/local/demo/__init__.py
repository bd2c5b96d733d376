"""`make demo`: starts the stack, tells it what three people say, shows what each audience then knows and why, stops.

A client like any other: it speaks through the official `hindsight_client`, and plain HTTP where that has no call.
"""
