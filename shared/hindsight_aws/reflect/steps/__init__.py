"""The steps of a run's workflow: each reads the run's rows, does one thing, and writes it.

Called by jobs/reflect.py.  `prepare` has `begin` settle what a run may do, `plan` tells the loop what `happened` and
keeps its decision, `call_model` and `run_tool` carry that out, `finish` ends the run.  `rows` are its rows, `question`
its vector, `payload` what travels between the steps.
"""
