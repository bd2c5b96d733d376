"""MCP: the API's routes as tools of the Model Context Protocol, over stateless streamable HTTP.

Called by routes/mcp.py.  A tool is a name, a schema and the routes that it asks; it asks them through the app itself,
so that validation, keys, limits and errors are the routes' own.
"""
