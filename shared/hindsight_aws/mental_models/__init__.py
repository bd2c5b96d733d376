"""Mental models: pages that keep the answer to a standing question as memories change.

A refresh: `manage` | `triggers` | `schedule` → `submit` ask, `start` begins a run, and reflect's steps call `keeper`:
`basis` (`decide`, `kept`) at its beginning, `reply` between, `candidate` (`document`, `edits`), `cited`, `report` and
`failure` at its end; `dry_run` previews one.  Calls the ports.
"""
