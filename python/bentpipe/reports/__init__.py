"""Reports: one HTML page that needs nothing beside it, of a comparison, a sweep or a reproduction."""
