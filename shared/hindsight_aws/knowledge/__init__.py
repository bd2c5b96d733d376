"""The knowledge base: folders and pages over mental models, to keep, read, search and export.  Called by the API.

`named` is what a bank's tree holds, `tree` how a caller sees it; each change is one unit of work under the tree's lock.
"""
