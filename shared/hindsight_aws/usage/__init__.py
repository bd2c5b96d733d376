"""What was used and what it cost.

Called by the use cases and the adapters of models; calls the ports.
"""
