"""Refreshes one page: `keeper` is what reflect's steps call, at each point of the run.

`basis` (`decide`, `kept`) at its beginning, `reply` between, `candidate` (`document`, `edits`), `cited` at its `end`;
`report` is what is told of it, `failure` what a refresh means that gave nothing.
"""
