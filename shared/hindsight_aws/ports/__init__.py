"""What the use cases need of the world, as Protocols whose docstrings say what the callee promises.

Use cases call these; store/ and aws/ keep them; runtime.py, and cli/ for an operator, join the two.
"""
