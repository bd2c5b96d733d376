"""The layer that holds this product's own package, and the certificates it trusts the database by."""
