"""What answers look like, one module per resource: shapes for the OpenAPI document, not for the routes."""
