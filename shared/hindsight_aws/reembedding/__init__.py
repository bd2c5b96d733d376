"""Embeds a bank anew by another model: new vectors are made beside those that serve, and put in their place at once.

Called by the API, which asks for it, and by the transfer job, which does it; calls the Embedder and the store ports.
"""
