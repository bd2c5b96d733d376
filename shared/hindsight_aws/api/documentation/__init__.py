"""The OpenAPI document and the page that shows it.  Made by the command line; the functions serve what was made."""
