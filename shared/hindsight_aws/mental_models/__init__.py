"""Mental models: pages that keep the answer to a standing question as memories change.

A refresh in its order: `manage` | `triggers` (`schedule`) → `submit` ask for it, `start` begins a run of reflect for it
whose steps call `refresh`; `dry_run` previews one.  Calls the ports.
"""
