"""A fake function whose module does not load."""

raise ImportError("this module does not load")
