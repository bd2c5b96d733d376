"""The layer of third-party wheels that the convert function alone imports from: readers of PDF and Office files."""
