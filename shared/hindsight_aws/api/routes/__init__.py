"""One file per resource: path, permission, the one use case or query it calls, the shape it answers.  See app.py."""
