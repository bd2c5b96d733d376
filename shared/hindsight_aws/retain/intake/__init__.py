"""From a request to checked documents: cleaned, dated, limited, allowed.  Called by `retain` and `submit`."""
