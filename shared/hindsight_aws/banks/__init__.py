"""Banks as a whole: create, describe, configure, name, template, preview, delete.

Called by api/; calls the rooms that a bank's parts belong to.  What a bank is set to is read in configuration/.
"""
