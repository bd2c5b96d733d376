"""The nouns: frozen dataclasses and pure functions over them, no I/O.  Everybody calls in; it calls nobody."""
