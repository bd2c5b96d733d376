"""Other people's clients and integrations, as they come from their registries, against the local stack."""
