"""The reception: HTTP in, one use case or one store query, HTTP out.  FastAPI lives here alone; the doors build it."""
