"""Words what a run asks a model, and holds replies to it.

`model_call` makes each call, with its directives (`compliance`), the bank's traits (`disposition`) and the caller's own
schema (`structure`); `checks` say what is wrong with a reply (`conformance`).  Called by the steps.
"""
