"""From the previous release to this one, and back to its code."""
