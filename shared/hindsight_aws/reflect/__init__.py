"""Reflect: a question becomes a run of searches and model calls that ends in an answer, and writes nothing into memory.

A run in its order: `runs` asks for it; `steps` begin it, keep what the `loop` decides and carry it out by `asking` and
`tools`; `answer` ends it.  All of these read the `conversation`.  `request` is what was asked, `ports` what is needed.
"""
