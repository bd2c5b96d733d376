"""The layer of third-party wheels that every function imports from."""
