"""Banks and their settings: create, describe, configure, delete.  Called by api/; calls ports/banks."""
