"""Searches as a model asks for them: `toolbox` says which there are, and runs one.

`memories`, `mental_models` and `expand` are the tools; `lookup` is what they are run with and how they answer,
`searches` is recall as they call it.  Called by the steps; knows no model.
"""
