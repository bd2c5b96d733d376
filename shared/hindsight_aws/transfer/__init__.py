"""Transfer: banks and documents into archives and out of them.

Ways in: `submit` (API), `run` (the transfer job), `download` (API).  Calls the ports, and for documents that are added
to a bank what retain and entities do with a fact.
"""
