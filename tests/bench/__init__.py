"""Benchmarks: `make bench` measures the whole stack over HTTP."""
