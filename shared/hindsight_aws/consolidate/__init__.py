"""Turns pending facts of one scope into observations: lease, drain, plan, check, reconcile, apply."""
