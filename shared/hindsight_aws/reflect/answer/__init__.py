"""Makes the answer of a run from what its model concluded: `body` reads again what is cited, `trace` tells the way.

`citations` hold the words against what was shown, `forgotten` against what was deleted meanwhile; `aftermath` adds what
the tasks after an answer gave.  Called by the steps that end a run.
"""
