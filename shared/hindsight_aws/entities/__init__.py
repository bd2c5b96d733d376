"""Which entity of a bank a name stands for.

Called by retain and by whoever edits a fact's entities; calls the Entities port for reading only.
"""

from hindsight_aws.entities.resolve import FactNames, Naming, merged, resolve

__all__ = ["FactNames", "Naming", "merged", "resolve"]
