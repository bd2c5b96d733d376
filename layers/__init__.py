"""What the functions are shipped in: layers and task roots, packed on any machine, without Docker, byte for byte alike.

Called by infra/cloud/assets.py when it synthesises, and by `python -m layers`. Calls uv for third-party wheels, and a
Python of Lambda's version for bytecode. Everything is packed for arm64 and Python 3.13, whatever this machine is.
"""
