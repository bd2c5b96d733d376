"""From a request to checked documents: cleaned, dated, limited, screened.  Called by retain/."""
