"""Tests of the repository itself: what its files hold, whether its locks are current, what a newcomer meets."""
