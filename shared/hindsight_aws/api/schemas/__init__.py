"""Wire models of request bodies: names, types and defaults as clients send them, explicit nulls included."""
