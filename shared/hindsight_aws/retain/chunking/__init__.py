"""Cuts texts into chunks, by prose and by turns.  Called by retain's plan; pure."""
