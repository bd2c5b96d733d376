"""Converters: files into text, each file in a process of its own that may take only so much time and memory.

Made by runtime.py for the convert function alone: what is imported here by the child is in that function's own layer.
"""

from __future__ import annotations

from hindsight_aws.converters.process import SubprocessConverter

__all__ = ["SubprocessConverter"]
